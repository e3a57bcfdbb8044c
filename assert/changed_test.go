package assert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func large(n int, fill string) string { return strings.Repeat(fill, n) }

func TestSplitRequestsAreCallsOfTheirOwn(t *testing.T) {
	whole := func() *history.Builder {
		return history.New().Request("POST", "/batch").Body(large(100, "a")).Attempt(0, ms, 413)
	}
	shaving := whole()
	for i := range 20 {
		shaving.Body(large(99-i, "a")).Attempt(dur(i+1)*s, ms, 413)
	}
	var charged []string
	for i := range 21 {
		charged = append(charged, fmt.Sprint(i+1))
	}
	endless := whole()
	for i := range 100 {
		endless.Body(large(50, fmt.Sprintf("%c", 'b'+i))[:50]).Attempt(dur(i+1)*s, ms, 413)
	}
	rows := []grouping{
		{"two halves", whole().Body(large(50, "b")).Attempt(s, ms, 200).Body(large(50, "c")).Attempt(2*s, ms, 200),
			"1 driver; 2 driver split; 3 driver split"},
		{"a half that is too large still", whole().Body(large(50, "b")).Attempt(s, ms, 413).Body(large(25, "c")).Attempt(2*s, ms, 200),
			"1 driver; 2 driver split; 3 driver split"},
		{"a half that fails is retried", whole().Body(large(50, "b")).Attempt(s, ms, 503).Attempt(2*s, ms, 200).Body(large(50, "c")).Attempt(3*s, ms, 200),
			"1 driver; 2,3 driver split; 4 driver split"},
		{"the whole again is a retry", whole().Attempt(s, ms, 413), "1,2 driver"},
		{"a byte less is the same again", shaving, strings.Join(charged, ",") + " driver"},
		{"something smaller after another answer is a retry", history.New().Request("POST", "/batch").Body(large(100, "a")).Attempt(0, ms, 503).
			Body(large(50, "b")).Attempt(s, ms, 200), "1,2 driver"},
	}
	checkGroupings(t, assert.Key{OneCall: true}, rows)
	checkGroupings(t, assert.Key{}, []grouping{
		{"known by what they have in common", whole().Body(large(50, "b")).Attempt(s, ms, 503).Attempt(2*s, ms, 200).Body(large(50, "c")).Attempt(3*s, ms, 200),
			"1 match; 2,3 match split; 4 match split"},
	})
	calls := assert.Calls(endless.Entries(), assert.Key{OneCall: true})
	if len(calls) != 65 || len(calls[0].Attempts) != 37 {
		t.Errorf("pieces without end: %d calls, %d attempts of the first", len(calls), len(calls[0].Attempts))
	}
	if calls[1].Of != calls[0].ID || calls[1].ID == calls[0].ID {
		t.Errorf("call %q is of %q", calls[1].ID, calls[1].Of)
	}
}

func TestMergedRequestsAreCallsOfTheirOwn(t *testing.T) {
	put := func() *history.Builder { return history.New().Request("PUT", "/doc").Body("1").Attempt(0, ms, 409) }
	reread := func(h *history.Builder, second int, body string) *history.Builder {
		return h.Request("GET", "/doc").Body("").Attempt(dur(second)*s, ms, 200).Request("PUT", "/doc").Body(body)
	}
	endless := put()
	for i := range 12 {
		reread(endless, 2*i+1, fmt.Sprint("merged ", i)).Attempt(dur(2*i+2)*s, ms, 409)
	}
	checkGroupings(t, assert.Key{OneCall: true}, []grouping{
		{"read anew, changed, sent again", reread(put(), 1, "2").Attempt(2*s, ms, 200), "1 driver; 2 driver; 3 driver merged"},
		{"after a failed precondition", reread(history.New().Request("PUT", "/doc").Body("1").Attempt(0, ms, 412), 1, "2").Attempt(2*s, ms, 200),
			"1 driver; 2 driver; 3 driver merged"},
		{"what was merged fails and is retried", reread(put(), 1, "2").Attempt(2*s, ms, 503).Attempt(3*s, ms, 200), "1 driver; 2 driver; 3,4 driver merged"},
		{"not read anew", put().Body("2").Attempt(s, ms, 409), "1,2 driver"},
		{"read, but not changed", reread(put(), 1, "1").Attempt(2*s, ms, 409), "1,3 driver; 2 driver"},
	})
	calls := assert.Calls(endless.Entries(), assert.Key{OneCall: true})
	if merged := len(calls) - 2; merged != 8 || len(calls[0].Attempts) != 5 {
		t.Errorf("%d merges are excused, %d attempts charged: %s", merged, len(calls[0].Attempts), outline(calls))
	}
}

func TestDownloadsAreResumed(t *testing.T) {
	rest := func(from string) func(*journal.Entry) {
		return func(e *journal.Entry) {
			e.Rare = &journal.Rare{Sent: journal.Sent{Range: from}}
		}
	}
	cut := func(e *journal.Entry) { e.Cut = true }
	broken := func() *history.Builder { return history.New().Attempt(0, ms, 200).With(cut) }
	rows := []grouping{
		{"further on each time", broken().Attempt(s, ms, 206).With(rest("bytes=10-")).With(cut).Attempt(2*s, ms, 206).With(rest("bytes=20-")), "1,2(resume),3(resume)"},
		{"from the beginning is a retry", broken().Attempt(s, ms, 200), "1,2"},
		{"no further than before is a retry", broken().Attempt(s, ms, 206).With(rest("bytes=10-")).With(cut).Attempt(2*s, ms, 206).With(rest("bytes=10-")),
			"1,2(resume),3"},
		{"after a 503 it is a retry", broken().Attempt(s, ms, 503).With(rest("bytes=10-")).Attempt(2*s, ms, 206).With(rest("bytes=10-")), "1,2(resume),3"},
	}
	for _, rule := range []string{"driver", "match"} {
		for i := range rows {
			rows[i].want, _, _ = strings.Cut(rows[i].want, " ")
			rows[i].want += " " + rule
		}
		checkGroupings(t, assert.Key{OneCall: rule == "driver"}, rows)
	}
	checkGroupings(t, assert.Key{}, []grouping{
		{"other parts are other calls", history.New().Attempt(0, ms, 503).With(rest("bytes=0-9")).Attempt(ms, ms, 503).With(rest("bytes=10-19")).
			Attempt(s, ms, 206).With(rest("bytes=0-9")).Attempt(s+ms, ms, 206).With(rest("bytes=10-19")), "1,3 match; 2,4 match"},
	})
	if got := assert.Calls(rows[0].history.Entries(), assert.Key{}); got[0].Tries() != 1 {
		t.Errorf("resuming counts as %d tries", got[0].Tries())
	}
}
