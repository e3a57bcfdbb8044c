package assert_test

import (
	"fmt"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// calibrated is a history of clients that make calls of three attempts each, one call at a time; mark says what a header is
// in an attempt.
func calibrated(clients, calls int, mark func(client, call, attempt int) string) *history.Builder {
	h := history.New()
	for c := range clients {
		h.Client(fmt.Sprint("client-", c+1))
		for k := range calls {
			for a := range 3 {
				h.Sent(journal.Sent{Marks: mark(c, k, a)})
				h.Attempt(dur(10*k+a)*s, ms, []int{503, 503, 200}[a])
			}
		}
	}
	return h
}

func TestCallHeader(t *testing.T) {
	perCall := func(client, call, _ int) string { return fmt.Sprintf("X-Job-Id=%d%d", client, call) }
	for _, c := range []struct {
		name           string
		clients, calls int
		mark           func(client, call, attempt int) string
		want           string
	}{
		{"the same in a call, another in each", 5, 2, perCall, "X-Job-Id"},
		{"one client", 1, 5, perCall, "X-Job-Id"},
		{"made anew for each attempt", 5, 2, func(client, call, attempt int) string {
			return fmt.Sprintf("X-Request-Id=%d%d%d", client, call, attempt)
		}, ""},
		{"the same for all", 5, 2, func(_, _, _ int) string { return "X-Tenant-Id=7" }, ""},
		{"of the client, not of the call", 5, 2, func(client, _, _ int) string { return fmt.Sprint("X-Device-Id=", client) }, ""},
		{"of the client, and each makes one call", 9, 1, func(client, _, _ int) string { return fmt.Sprint("X-Device-Id=", client) }, ""},
		{"too few calls", 2, 2, perCall, ""},
		{"missing in one attempt", 5, 2, func(client, call, attempt int) string {
			if client+call+attempt == 0 {
				return ""
			}
			return perCall(client, call, attempt)
		}, ""},
		{"among others", 5, 2, func(client, call, attempt int) string {
			return fmt.Sprintf("X-Attempt-Id=%d%d%d X-Job-Id=%d%d X-Tenant-Id=7 X-Trace-Id=%d%d", client, call, attempt, client, call, client, call)
		}, "X-Job-Id"},
		{"no marks", 5, 2, func(_, _, _ int) string { return "" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := assert.CallHeader(assert.Calls(calibrated(c.clients, c.calls, c.mark).Entries(), assert.Key{})); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := assert.CallHeader(nil); got != "" {
		t.Errorf("nothing has the header %q", got)
	}
}
