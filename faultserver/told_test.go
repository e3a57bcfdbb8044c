package faultserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Of the two ways to fail that look alike, the journal tells which asked the upstream, and counts with it.
func TestJournalTellsTheCommitPairApart(t *testing.T) {
	var created atomic.Int32
	upstream := func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); string(body) != "order" || err != nil {
			t.Errorf("the upstream got %q, %v", body, err)
		}
		created.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) // all of it is taken, and none passed on
	}
	proxied(t, upstream, func(t *testing.T, w *world) {
		w.use(t,
			faultserver.Rule{Name: "before", Match: faultserver.Match{Path: "/before"}, Fault: fault.Of("fail-before", &fault.FailBefore{By: 502})},
			faultserver.Rule{Name: "after", Match: faultserver.Match{Path: "/after"}, Fault: fault.Of("lose-answer", &fault.LoseAnswer{By: 502})})
		seen := map[string]string{}
		for _, path := range []string{"/before", "/after", "/after"} {
			code, body := w.ask(t, "POST "+path, "order")
			seen[body] = path
			if code != 502 {
				t.Errorf("%s: %d", path, code)
			}
		}
		if len(seen) != 1 {
			t.Errorf("a client can tell them apart: %v", seen)
		}
		var asked []int
		for _, e := range w.Journal().Entries() {
			asked = append(asked, e.Upstream)
			if e.Status != 502 || e.Cut || e.Open {
				t.Errorf("%+v", e)
			}
		}
		if len(asked) != 3 || asked[0] != 0 || asked[1] != 201 || asked[2] != 201 || created.Load() != 2 {
			t.Errorf("the journal says that the upstream gave %v; it created %d", asked, created.Load())
		}
	})
}

// An upstream that cannot be asked has done nothing.
func TestLostAnswerOfNobody(t *testing.T) {
	at, err := faultserver.ParseUpstream("http://nobody.test:80")
	if err != nil {
		t.Fatal(err)
	}
	nobody := &http.Transport{DialContext: (&world{}).network.DialContext}
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: fault.Of("lose-answer", &fault.LoseAnswer{})})
		if _, text := w.ask(t, "POST /", "x"); !strings.Contains(text, "reset by peer") {
			t.Error(text)
		}
		if e := w.last(t); e.Upstream != 0 || e.Status != 0 || !e.Cut {
			t.Errorf("%+v", e)
		}
	}, faultserver.WithUpstream(at), faultserver.WithTransport(nobody), faultserver.WithErrorLog(nil))
}

// Nothing of a token is in the journal, whatever comes of it.
func TestTokensAreNotJournalled(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.listen(t, "own.test:80", "app")
		w.use(t, faultserver.Rule{Name: "guard", Fault: fault.Of("auth", &fault.Auth{Uses: 1})})
		_, body := w.ask(t, "POST http://own.test/token", "refresh_token=hush")
		token := regexp.MustCompile("[0-9a-f]{32}").FindString(body)
		var got []int
		for _, authorization := range []string{"", "Bearer " + token, "Bearer " + token, "Bearer wrong"} {
			got = append(got, w.do(t, "GET http://own.test/api", "Authorization", authorization))
		}
		var text bytes.Buffer
		if err := journal.Write(&text, w.Journal().History()); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{token, "wrong", "hush", "Bearer"} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("the journal has %q:\n%s", secret, &text)
			}
		}
		entries := w.Journal().Entries()
		if len(got) != 4 || got[0] != 401 || got[1] != 200 || got[2] != 401 || got[3] != 401 || token == "" {
			t.Errorf("got %v", got)
		}
		if e := entries[2]; e.Rule != "" || e.Fault != "" || !e.Delivered() || e.Auth == 0 || e.Auth != entries[3].Auth || e.Auth == entries[4].Auth {
			t.Errorf("%+v", e)
		}
		if w.Fired()["guard"] != 4 {
			t.Errorf("fired %d times; what has a good token is left alone", w.Fired()["guard"])
		}
	})
}

// A client that leaves a slow head is noticed when it does, although net/http has given the connection away.
func TestLeavingASlowHead(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: fault.Of("slow-head", &fault.SlowHead{Every: time.Minute})})
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://api.test/", strings.NewReader("x"))
		if _, err := w.client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait()
		if e := w.last(t); e.Gone != 90*time.Second || e.Status != 200 || !e.Cut || e.Open || e.Took != 90*time.Second {
			t.Errorf("%+v", e)
		}
	})
}

// Close ends what a fault sends by hand.
func TestCloseEndsSlowHeads(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: fault.Of("slow-head", &fault.SlowHead{Every: time.Hour})})
		done := make(chan string)
		go func() {
			_, text := w.ask(t, "POST /", "x")
			done <- text
		}()
		time.Sleep(time.Second)
		began := time.Now()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if text := <-done; !strings.Contains(text, "malformed HTTP response \"H\"") || time.Since(began) > 0 {
			t.Errorf("%s, %v after Close", text, time.Since(began))
		}
		if e := w.last(t); e.Open || !e.Cut || e.Gone != 0 {
			t.Errorf("%+v", e)
		}
	})
}

// What comes to the end of a chain of redirects reaches the upstream as the client meant it.
func TestChainsOfRedirectsThroughTheProxy(t *testing.T) {
	var got []string
	upstream := func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.RequestURI+" "+string(body))
	}
	proxied(t, upstream, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "moved", Fault: fault.Of("redirect", &fault.Redirect{Code: 308, Chain: 3})})
		if code, _ := w.ask(t, "POST /a?b=%zz", "hello"); code != 200 || len(got) != 1 || got[0] != "POST /a?b=%zz hello" {
			t.Errorf("%d, the upstream got %q", code, got)
		}
		entries := w.Journal().Entries()
		if len(entries) != 4 || w.Fired()["moved"] != 3 || entries[3].Upstream != 200 || entries[3].Rule != "" || entries[2].Status != 308 || entries[2].Upstream != 0 {
			t.Errorf("%+v", entries)
		}
	})
}
