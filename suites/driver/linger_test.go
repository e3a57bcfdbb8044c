package driver

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/scenarios"
)

// TestRetriesInTheBackgroundAreSeen runs commands that end after one request and leave the rest to a child.
func TestRetriesInTheBackgroundAreSeen(t *testing.T) {
	need(t, "sh", "curl", "sleep", "setsid", "env")
	for _, c := range []struct {
		name, script string
		options      Options
		requests     int    // at least
		stopped      string // "" if it ends by itself
		left         int    // at least
	}{
		{"a few", `curl -s $RETRYGATE_URL; (sleep 0.3; curl -s $RETRYGATE_URL) &`, Options{}, 2, "", 0},
		{"a storm", `curl -s $RETRYGATE_URL; (while :; do curl -s $RETRYGATE_URL; done) &`, Options{StormLimit: 5, Enough: -1}, 6, "it would have gone on", 1},
		{"a storm out of sight", `curl -s $RETRYGATE_URL; env -i U=$RETRYGATE_URL PATH="$PATH" setsid sh -c 'while :; do curl -s $U; done' &`,
			Options{StormLimit: 5, Enough: -1}, 6, "it would have gone on", 1},
		{"until the limit", `curl -s $RETRYGATE_URL; (sleep 600; true) &`, Options{Limit: time.Second}, 1,
			"ended with exit code 0, but 2 processes that it started went on and were stopped after 1 s", 2},
		{"an idle daemon", `curl -s $RETRYGATE_URL; sleep 600 &`, Options{}, 1,
			"ended with exit code 0, but 1 process that it started went on and was stopped after 3 s without a request", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.Stub = faultserver.Stub{Status: 503}
			out := mustRun(t, scenarios.Scenario{Name: "s0"}, Command("sh", "-c", c.script), c.options)
			end := out.Ends[0]
			if end.Requests < c.requests || end.Left < c.left || (end.Stopped == "") != (c.stopped == "") || !strings.HasSuffix(end.Stopped, c.stopped) {
				t.Errorf("%+v", end)
			}
			if c.stopped != "" && (len(out.Notes) != 1 || !strings.HasPrefix(out.Notes[0], "client-1 "+end.Stopped) || end.StoppedAt == 0) {
				t.Errorf("%+v, notes %q", end, out.Notes)
			}
		})
	}
	t.Cleanup(func() { nothingLeft(t) })
}

// TestIdleDaemonIsNoReasonToRefuse has a healthy run leave a daemon behind.
func TestIdleDaemonIsNoReasonToRefuse(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	p, err := Look(t.Context(), Command("sh", "-c", "curl -s $RETRYGATE_URL; sleep 600 &"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "sh ended with exit code 0, but 1 process that it started went on and was stopped after 3 s without a request"
	if !p.OneCall || len(p.Notes) != 1 || p.Notes[0] != want {
		t.Errorf("%+v", p)
	}
	nothingLeft(t)
}

func TestLongOutputIsClippedInMessages(t *testing.T) {
	got := printed(Output{Stderr: strings.Repeat("x", keep) + "end"})
	if len(got) > quoted+100 || !strings.HasPrefix(got, "its output: [64539 bytes before this are left out] xxx") || !strings.HasSuffix(got, "xend") {
		t.Errorf("%d bytes: %.80s", len(got), got)
	}
}
