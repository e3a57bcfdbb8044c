package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func arrive(j *journal.Journal, path string) *journal.Exchange {
	return j.Arrive(journal.Arrival{Client: "c1", Method: "GET", Path: path, Proto: "HTTP/1.1"})
}

func TestTailShowsEachExchangeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := journal.New(100)
		tail := newTail(&world{stdout: &out}, j, false)

		slow, quick := arrive(j, "/slow"), arrive(j, "/quick")
		quick.Acted("outage", "status")
		quick.Answered(503, "2")
		quick.Close()
		tail.show(false)
		tail.show(false)
		if got := out.String(); strings.Count(got, "/quick -> 503, Retry-After 2  rule outage") != 1 || strings.Contains(got, "/slow") {
			t.Errorf("while one is open: %q", got)
		}
		slow.Answered(200, "")
		slow.Close()
		tail.show(false)
		tail.rest()
		if got := out.String(); strings.Count(got, "/quick") != 1 || strings.Count(got, "/slow -> 200") != 1 {
			t.Errorf("at the end: %q", got)
		}
	})
}

// Where the client lost an answer, the line says what was done all the same.
func TestTailTellsWhatTheUpstreamSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := journal.New(100)
		tail := newTail(&world{stdout: &out}, j, false)
		for _, c := range []struct {
			path             string
			upstream, status int
		}{{"/lost", 201, 0}, {"/hidden", 201, 502}, {"/passed", 200, 200}, {"/alone", 0, 502}} {
			x := arrive(j, c.path)
			x.Acted("r", "lose-answer")
			x.Asked(c.upstream)
			if c.status != 0 {
				x.Answered(c.status, "")
			} else {
				x.Cut()
			}
			x.Close()
		}
		tail.rest()
		for _, want := range []string{"/lost -> lose-answer  rule r, upstream said 201\n", "/hidden -> 502  rule r, upstream said 201\n", "/passed -> 200  rule r\n", "/alone -> 502  rule r\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in %s", want, out.String())
			}
		}
	})
}

func TestTailShowsAHangWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := journal.New(100)
		tail := newTail(&world{stdout: &out}, j, false)
		hung := arrive(j, "/hung")
		hung.Acted("stuck", "hang")
		tail.show(false)
		if out.Len() > 0 {
			t.Errorf("shown at once: %q", out.String())
		}
		time.Sleep(patience + time.Millisecond)
		tail.show(false)
		hung.Close()
		tail.rest()
		if got := out.String(); strings.Count(got, "/hung -> hang  rule stuck") != 1 {
			t.Errorf("after a while: %q", got)
		}
	})
}

// Nothing else happens while the hang lasts.
func TestTailLooksAgainByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := journal.New(100)
		tail := newTail(&world{stdout: &out}, j, false)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			tail.follow(ctx)
		}()
		arrive(j, "/hung").Acted("stuck", "hang")
		time.Sleep(2 * patience)
		stop()
		<-done
		if got := out.String(); strings.Count(got, "/hung -> hang  rule stuck") != 1 {
			t.Errorf("after a while: %q", got)
		}
	})
}

func TestTailIsSafeToRead(t *testing.T) {
	var out bytes.Buffer
	j := journal.New(100)
	x := arrive(j, "/\x1b[2J\n#1 forged")
	x.Answered(200, "")
	x.Close()
	newTail(&world{stdout: &out}, j, false).rest()
	if got := out.String(); strings.Contains(got, "\x1b") || strings.Count(got, "\n") != 1 {
		t.Errorf("a path acts on the terminal: %q", got)
	}
}
