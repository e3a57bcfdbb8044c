package assert_test

import (
	"strconv"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// endCases are about deadlines, cancellation, broken answers and what a client remembers from call to call.
func endCases() []publicCase {
	get := history.New
	caller := &assert.Run{Ended: true, Began: epoch, Noise: calm, Cancelled: 500 * ms}
	return []publicCase{
		{source: "regula 19: the cancelled call is repeated", run: caller, bad: cancelled(600*ms, 1100*ms, 1700*ms), good: cancelled(), breaks: []string{"no-retry-after-cancel"}},
		{source: "transport 14: the first answer's context is used for the retry", bad: once(429), good: get().Attempt(0, ms, 429).Attempt(101*ms, ms, 200),
			breaks: []string{"retries-transient"}},
		{source: "retryablehttp-go 554: the deadline only broke the wait", contract: "attempts: {max: 6, within: 500ms}\nclauses: {retries-transient: off}",
			bad: get().Retries(0, 503, 499*ms, 0, 0, 0, 0), good: get().Attempt(0, ms, 503), breaks: []string{"min-spacing"}},
		{source: "retryablehttp-go 554: the caller's deadline", contract: "attempts: {max: 6, within: 10s}", run: caller,
			bad: get().Retries(0, 503, 100*ms, 700*ms, 0, 0, 0), good: get().Retries(0, 503, 100*ms, 200*ms), breaks: []string{"no-retry-after-cancel"}},
		{source: "axios-retry 21: no timeout left is none at all", contract: "attempts: {within: 300ms}",
			bad: get().Cut(0, 95*ms).Cut(195*ms, 5*ms).Left(400*ms, 5*s), good: get().Cut(0, 95*ms).Left(195*ms, 105*ms), breaks: []string{"total-deadline"}},
		{source: "vite-plus 1940: the body is read outside of what is retried", bad: get().Cut(0, ms).With(opened), good: get().Cut(0, ms).With(opened).Attempt(101*ms, ms, 200),
			breaks: []string{"retries-transient"}},
		{source: "SpotiFLAC-Mobile 503: a drop is taken for the end", bad: get().Cut(0, 20*ms).With(opened), good: get().Cut(0, 20*ms).With(opened).Attempt(120*ms, ms, 200),
			breaks: []string{"retries-transient"}},
		{source: "aws-sdk-go-v2 3550: success does not fill the quota again", many: true, bad: quota(0), good: quota(1), breaks: []string{"retries-transient"}},
	}
}

// quota is a client whose first two calls use up their retries; after a hundred that succeed, one more has so many.
func quota(retries int) *history.Builder {
	h := eachCall(2, s, func(i int, at ns, h *history.Builder) {
		h.Request("GET", "/"+strconv.Itoa(i)).Retries(at, 503, 90*ms+ns(i)*20*ms)
	})
	for i := range 100 {
		h.Call("well "+strconv.Itoa(i)).Attempt(2*s+ns(i)*s, ms, 200)
	}
	h.Request("GET", "/last").Call("last").Attempt(103*s, ms, 503)
	if retries > 0 {
		h.Attempt(103*s+101*ms, ms, 200)
	}
	return h
}
