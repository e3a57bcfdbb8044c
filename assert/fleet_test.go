package assert_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// everything is the strict contract with each section that switches on one more clause.
func everything() *assert.Contract {
	c, err := assert.LoadContract("everything.yaml", []byte(
		"budget: {}\nbreaker: {failures: 20, open: 4s}\nhedging: {after: 200ms}\npoll: {every: 1s}"))
	if err != nil {
		panic(err)
	}
	return c
}

// working are the examples of clients that make many calls, by clause.
var working = map[string]struct{ broken, kept *history.Builder }{
	"retry-budget-ratio": {
		eachCall(20, 100*ms, func(_ int, at time.Duration, h *history.Builder) { h.Retries(at, 503, s, s, s) }),
		eachCall(20, 100*ms, func(i int, at time.Duration, h *history.Builder) { h.Retries(at, 503, repeat(1-i%2, s)...) }),
	},
	"circuit-breaker": {steady(history.New(), 0, 23, 100*ms, 503), breaking(1)},
	"recovery-drain":  {outage().Retries(20*s, 200, repeat(100, 10*ms)...), steady(outage(), 20*s, 240, 250*ms, 200)},
	"throttle-scope":  {quietFor(3*s, 300*ms), quietFor(3*s, 3*s)},
	"poll-cadence":    {steady(history.New(), 0, 10, 500*ms, 503), steady(history.New(), 0, 10, s, 503)},
	"hedge-bounded":   {hedged(50*ms, 1), hedged(250*ms, 5)},
}

// eachCall has one client make n calls, each with an id.
func eachCall(n int, every time.Duration, call func(i int, at time.Duration, h *history.Builder)) *history.Builder {
	h := history.New()
	for i := range n {
		call(i, ns(i)*every, h.Call(strconv.Itoa(i)))
	}
	return h
}

// steady adds n requests that all get the same answer.
func steady(h *history.Builder, from time.Duration, n int, every time.Duration, status int) *history.Builder {
	for i := range n {
		h.Attempt(from+ns(i)*every, ms, status)
	}
	return h
}

// breaking is a client with a breaker that lets so many probes through every four seconds.
func breaking(probes int) *history.Builder {
	h := steady(history.New(), 0, 20, 100*ms, 503)
	for i := range 3 {
		steady(h, 6*s+ns(i)*4*s, probes, 10*ms, 503)
	}
	return steady(h, 20*s, 10, 100*ms, 200)
}

// outage is a server that answers four requests a second for ten seconds and fails them for another ten.
func outage() *history.Builder {
	return steady(steady(history.New(), 0, 40, 250*ms, 200), 10*s, 40, 250*ms, 503)
}

// quietFor asks one call to wait, and sees others from a time on.
func quietFor(asked, from time.Duration) *history.Builder {
	h := history.New().Call("told").Attempt(0, ms, 429).RetryAfter(strconv.Itoa(int(asked / s)))
	return steady(h.Call("other"), from, 3, 100*ms, 200)
}

// hedged is 100 calls, of which so many get a copy after a time.
func hedged(after time.Duration, n int) *history.Builder {
	return eachCall(100, s, func(i int, at time.Duration, h *history.Builder) {
		if i < n {
			h.Left(at, after+10*ms).Attempt(at+after, ms, 200)
		} else {
			h.Attempt(at, ms, 200)
		}
	})
}

// told how a clause judges a history, on a calm machine.
func judged(t *testing.T, id string, h *history.Builder, run *assert.Run) assert.Result {
	t.Helper()
	if run == nil {
		run = &assert.Run{Ended: true, Noise: calm}
	}
	return assert.Judge(everything(), []string{id}, assert.Calls(h.Entries(), assert.Key{Run: run}))[0]
}

func TestFleetSections(t *testing.T) {
	c := everything()
	want := assert.Budget{Ratio: 0.1, Reserve: 10, Over: 30 * s}
	if c.Budget != want || c.Breaker != (assert.Breaker{Failures: 20, Open: 4 * s, Probes: 1}) ||
		c.Hedging != (assert.Hedging{After: 200 * ms, Max: 2, Share: 0.05}) || c.Poll.Every != s {
		t.Errorf("%+v %+v %+v %+v", c.Budget, c.Breaker, c.Hedging, c.Poll)
	}
	var doc strings.Builder
	if err := c.Doc(&doc); err != nil {
		t.Fatal(err)
	}
	for _, sentence := range []string{
		"Over all calls of a client, retries are at most **10 % of first attempts** and 10 retries more, in any 30 s.",
		"After **20 failed attempts** in a row a client stops calling; while the server fails it sends at most **1 probe in 4 s**",
		"can be sent when there is no answer after **200 ms**: 2 copies of it in all, for at most **5 % of calls**",
		"The client asks every **1 s** by itself",
	} {
		if !strings.Contains(doc.String(), sentence) {
			t.Errorf("the document lacks %q:\n%s", sentence, doc.String())
		}
	}
	for text, want := range map[string]string{
		"budget: {ratio: 11}":             "x.yaml:1:17: ratio: 11 is out of range; want 0 to 10",
		"budget: {ratio: 0, reserve: 0}":  "x.yaml:1:9: budget: without ratio and reserve no retry is allowed; for that write attempts: {max: 1}",
		"budget: {over: 1ms}":             "x.yaml:1:16: over: 1ms is too small; want at least 1s",
		"breaker: {open: 1ms}":            "x.yaml:1:17: open: 1ms is too small; want at least 100ms",
		"breaker: {failures: 0}":          "x.yaml:1:21: failures: 0 is out of range; want 1 to 10000",
		"breaker: {probe: 1}":             `x.yaml:1:11: unknown field "probe"; did you mean probes?`,
		"hedging: {max: 3}":               "x.yaml:1:10: after: say how long a copy waits for the one before, as in hedging: {after: 200ms}; the 95th percentile of normal latency is usual",
		"hedging: {after: 1s, max: 1}":    "x.yaml:1:27: max: 1 is out of range; want 2 to 100",
		"poll: {}":                        "x.yaml:1:7: every: say how far apart the requests are, as in poll: {every: 30s}",
		"clauses: {poll-cadence: on}":     "",
		"clauses: {herd-index: {max: 2}}": "x.yaml:1:29: max: 2 is out of range; want 0.1 to 1",
	} {
		_, err := assert.LoadContract("x.yaml", []byte(text))
		if got := fmt.Sprint(err); want == "" && err == nil {
			t.Errorf("%s was accepted, which has no effect", text)
		} else if want != "" && got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestHerds is about what draws clients together and what does not.
func TestHerds(t *testing.T) {
	spread := func(width time.Duration, around time.Duration) *history.Builder {
		return clients(30, func(i int, h *history.Builder) { h.Retries(0, 503, around-width/2+ns(i)*width/29) })
	}
	stalled := &assert.Run{Ended: true, Noise: assert.Noise{Slices: []assert.Slice{{P50: ms, P99: 2 * ms, Max: 500 * ms, Samples: 99}}}}
	for _, test := range []struct {
		name string
		h    *history.Builder
		run  *assert.Run
		want assert.Verdict
	}{
		{"to the millisecond", spread(ms, s), nil, assert.Fail},
		{"within a fiftieth", spread(20*ms, s), nil, assert.Fail},
		{"up to a tenth more", spread(100*ms, s), nil, assert.Inconclusive},
		{"20 % either way", spread(400*ms, s), nil, assert.Pass},
		{"full jitter", spread(s, s/2), nil, assert.Pass},
		{"the machine stalled", spread(ms, s), stalled, assert.Inconclusive},
		{"no canary", spread(ms, s), &assert.Run{Ended: true}, assert.Inconclusive},
		{"waits too short to tell", spread(40*ms, 50*ms), nil, assert.Inconclusive},
		{"at once, all", spread(0, 0), nil, assert.Inconclusive},
		{"at once, then apart", clients(30, func(i int, h *history.Builder) { h.Retries(0, 503, 0, s+ns(i)*20*ms) }), nil, assert.Pass},
		{"apart, then at once", clients(30, func(i int, h *history.Builder) { h.Retries(0, 503, s+ns(i)*20*ms, 2*s) }), nil, assert.Fail},
		{"told to", clients(30, func(_ int, h *history.Builder) { h.Attempt(0, ms, 503).RetryAfter("2").Attempt(2*s, ms, 200) }), nil, assert.NotExercised},
		{"few", clients(9, func(_ int, h *history.Builder) { h.Retries(0, 503, s) }), nil, assert.Inconclusive},
		{"two", clients(2, func(_ int, h *history.Builder) { h.Retries(0, 503, s) }), nil, assert.NotExercised},
		{"few, apart", clients(9, func(i int, h *history.Builder) { h.Retries(0, 503, s+ns(i)*100*ms) }), nil, assert.Inconclusive},
	} {
		if got := judged(t, "herd-index", test.h, test.run); got.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

func TestBreakers(t *testing.T) {
	for _, test := range []struct {
		name string
		h    *history.Builder
		want assert.Verdict
	}{
		{"two probes", breaking(2), assert.Fail},
		{"nineteen failures", steady(history.New(), 0, 19, 100*ms, 503), assert.NotExercised},
		{"one more than allowed, and one under way", steady(history.New(), 0, 21, 100*ms, 503), assert.Inconclusive},
		{"a success between", steady(steady(steady(history.New(), 0, 15, 100*ms, 503), 2*s, 1, s, 200), 3*s, 15, 100*ms, 503), assert.NotExercised},
		{"nothing new", steady(history.New(), 0, 40, 100*ms, 304), assert.NotExercised},
		{"wrong requests between", steady(steady(steady(history.New(), 0, 15, 100*ms, 503), 2*s, 1, s, 404), 3*s, 15, 100*ms, 503), assert.NotExercised},
		{"slow calls that fail", steady(history.New(), 0, 30, 3*s, 503), assert.NotExercised},
	} {
		if got := judged(t, "circuit-breaker", test.h, &assert.Run{Noise: calm, Until: 2 * s}); got.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

func TestReturns(t *testing.T) {
	long := steady(steady(outage(), 20*s, 300, 100*ms, 200), 50*s, 100, 250*ms, 200) // ten a second for half a minute more
	stalled := &assert.Run{Ended: true, Noise: assert.Noise{Slices: []assert.Slice{{P50: ms, P99: 2 * ms, Max: 20 * s, Samples: 99}}}}
	for _, test := range []struct {
		name string
		h    *history.Builder
		run  *assert.Run
		want assert.Verdict
	}{
		{"too long at a half more", steady(steady(outage(), 20*s, 300, 166*ms, 200), 70*s, 100, 250*ms, 200), nil, assert.Fail},
		{"the machine stalled", steady(steady(outage(), 20*s, 300, 166*ms, 200), 70*s, 100, 250*ms, 200), stalled, assert.Inconclusive},
		{"a half more for a while", steady(steady(outage(), 20*s, 60, 166*ms, 200), 30*s, 100, 250*ms, 200), nil, assert.Pass},
		{"three times as much", long, nil, assert.Fail},
		{"watched too briefly", steady(outage(), 20*s, 20, 250*ms, 200), nil, assert.Inconclusive},
		{"no outage", steady(history.New(), 0, 100, 250*ms, 200), nil, assert.NotExercised},
		{"no calm before", steady(steady(history.New(), 0, 40, 250*ms, 503), 10*s, 100, 250*ms, 200), nil, assert.NotExercised},
		{"nothing after", outage(), nil, assert.NotExercised},
		{"on and off", steady(steady(outage(), 20*s, 40, 250*ms, 200), 30*s, 40, 250*ms, 503), nil, assert.NotExercised},
		{"the clients left", steady(history.New(), 0, 40, 250*ms, 200).Left(10*s, s).Left(17*s, s).Attempt(20*s, ms, 200), nil, assert.NotExercised},
	} {
		if got := judged(t, "recovery-drain", test.h, test.run); got.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

// Requests of many users come as chance has it: more at times than the mean, without anybody's fault.
func TestReturnsOfUnevenTraffic(t *testing.T) {
	traffic := func(seed uint64, storm float64) *history.Builder {
		r, h := rand.New(rand.NewPCG(seed, 11)), history.New()
		for at := time.Duration(0); at < 80*s; {
			rate, status := 20.0, 200
			switch {
			case at >= 10*s && at < 20*s:
				status = 503
			case at >= 20*s && at < 30*s:
				rate *= storm
			}
			h.Attempt(at, ms, status)
			at += time.Duration(r.ExpFloat64() * float64(s) / rate)
		}
		return h
	}
	for seed := range uint64(50) {
		if got := judged(t, "recovery-drain", traffic(seed, 1), nil); got.Verdict != assert.Pass {
			t.Errorf("seed %d: %s: %s", seed, got.Verdict, got.Detail)
		}
		if got := judged(t, "recovery-drain", traffic(seed, 8), nil); got.Verdict != assert.Fail {
			t.Errorf("seed %d, a storm: %s: %s", seed, got.Verdict, got.Detail)
		}
	}
}

func TestThrottles(t *testing.T) {
	given := func(at ...time.Duration) *assert.Run {
		return &assert.Run{Ended: true, Noise: calm, Given: map[string][]time.Duration{"a": at}}
	}
	for _, test := range []struct {
		name string
		h    *history.Builder
		run  *assert.Run
		want assert.Verdict
	}{
		{"under way", quietFor(3*s, 40*ms), given(0, s), assert.Pass}, // the last of the three comes at 240 ms, in time
		{"longer than the contract obeys", quietFor(1e9*s, time.Minute), nil, assert.Fail},
		{"longer than the contract obeys, and then comes back", quietFor(1e9*s, 2*time.Minute), nil, assert.Pass},
		{"nothing to send", history.New().Call("told").Attempt(0, ms, 429).RetryAfter("3"), given(0), assert.NotExercised},
		{"held back", history.New().Call("told").Attempt(0, ms, 429).RetryAfter("3"), given(0, s), assert.Pass},
		{"its own retry", history.New().Call("told").Attempt(0, ms, 429).RetryAfter("3").Attempt(s, ms, 200), given(0), assert.NotExercised},
		{"another client", history.New().Call("1").Attempt(0, ms, 429).RetryAfter("3").Client("b").Call("2").Attempt(s, ms, 200), nil, assert.NotExercised},
		{"not honoured", history.New().Call("1").Attempt(0, ms, 404).RetryAfter("3").Call("2").Attempt(s, ms, 200), nil, assert.NotExercised},
		{"no canary", quietFor(3*s, s), &assert.Run{Ended: true}, assert.Inconclusive},
	} {
		if got := judged(t, "throttle-scope", test.h, test.run); got.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

func TestBudgets(t *testing.T) {
	anonymous := steady(history.New(), 0, 60, 100*ms, 503) // thirty retries, if thirty calls were given
	given := func(n int) *assert.Run {
		return &assert.Run{Ended: true, Noise: calm, Given: map[string][]time.Duration{"a": make([]time.Duration, n)}}
	}
	for _, test := range []struct {
		name string
		h    *history.Builder
		run  *assert.Run
		want assert.Verdict
	}{
		{"few calls", eachCall(5, s, func(_ int, at time.Duration, h *history.Builder) { h.Retries(at, 503, s, s, s) }), nil, assert.NotExercised},
		{"without ids, more than it was given", anonymous, given(30), assert.Fail},
		{"without ids, as many as it was given", anonymous, given(60), assert.Inconclusive},
		{"without ids or word", anonymous, nil, assert.NotExercised},
		{"without ids, and nothing failed", steady(history.New(), 0, 60, 100*ms, 200), given(60), assert.NotExercised},
	} {
		if got := judged(t, "retry-budget-ratio", test.h, test.run); got.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

func TestHedges(t *testing.T) {
	one := func(change func(h *history.Builder)) *history.Builder {
		h := history.New().Call("1")
		change(h)
		return steady(h.Call("2"), time.Minute, 1, s, 200)
	}
	for _, test := range []struct {
		name, says string
		h          *history.Builder
		want       assert.Verdict
	}{
		{"three copies", "had 3 copies", one(func(h *history.Builder) { h.Left(0, s).Left(250*ms, s).Attempt(500*ms, ms, 200) }), assert.Fail},
		{"a write", "copy of a POST", one(func(h *history.Builder) { h.Request("POST", "/").Left(0, s).Attempt(500*ms, ms, 200) }), assert.Fail},
		{"a loser that goes on", "go on for 2", one(func(h *history.Builder) { h.Left(0, 3*s).Attempt(250*ms, ms, 200) }), assert.Fail},
		{"too many", "40 of 100 calls", hedged(250*ms, 40), assert.Fail},
		{"few calls", "too few", one(func(h *history.Builder) { h.Left(0, 300*ms).Attempt(250*ms, ms, 200) }), assert.Inconclusive},
		{"in haste the second time", "sent a copy 50 ms after", one(func(h *history.Builder) {
			h.Left(0, 260*ms).Attempt(250*ms, ms, 503).Left(2*s, 60*ms).Attempt(2050*ms, ms, 200)
		}), assert.Fail},
		{"a retry", "no call had a copy", one(func(h *history.Builder) { h.Retries(0, 503, s) }), assert.NotExercised},
	} {
		if got := judged(t, "hedge-bounded", test.h, nil); got.Verdict != test.want || !strings.Contains(got.Detail, test.says) {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

func TestPollers(t *testing.T) {
	stall := func(after time.Duration) *history.Builder { // what was missed in five seconds comes after it
		h := steady(steady(history.New(), 0, 6, s, 503), 6*s, 1, s, 200)
		return h.With(func(e *journal.Entry) { e.Took = 5 * s }).Attempt(11*s+after, ms, 200).Attempt(11*s+2*after, ms, 200)
	}
	stalled := &assert.Run{Noise: assert.Noise{Slices: []assert.Slice{{P50: ms, P99: 2 * ms, Max: s, Samples: 99}}}}
	for _, test := range []struct {
		name string
		h    *history.Builder
		run  *assert.Run
		want assert.Verdict
	}{
		{"slower on errors", steady(history.New(), 0, 10, 3*s, 503), nil, assert.Pass},
		{"catches up", stall(10 * ms), nil, assert.Fail},
		{"catches up, or the machine stalled", stall(10 * ms), stalled, assert.Inconclusive},
		{"goes on", stall(s), nil, assert.Pass},
		{"few failures", steady(history.New(), 0, 3, s, 503), nil, assert.NotExercised},
	} {
		if got := judged(t, "poll-cadence", test.h, test.run); got.Verdict != test.want {
			t.Errorf("%s: %s, want %s: %s", test.name, got.Verdict, test.want, got.Detail)
		}
	}
}

// Each client that is given work has an outage of its own: two that return gently do not make up for one that storms.
func TestEachClientDrainsByItself(t *testing.T) {
	h := history.New()
	given := map[string][]time.Duration{}
	for i, name := range []string{"a", "b", "c"} {
		h.Client(name)
		given[name] = []time.Duration{0}
		for k := range 900 {
			at := ns(k) * 50 * ms
			status := 200
			if at >= 5*s && at < 15*s {
				status = 503
			}
			h.Call(strconv.Itoa(k)).Attempt(at+ns(i)*ms, ms, status)
		}
	}
	run := &assert.Run{Until: 60 * s, Ended: true, Noise: calm, Given: given}
	judged := func() assert.Result {
		return assert.RecoveryDrain{}.Check(assert.Calls(h.Entries(), assert.Key{Run: run}))
	}
	if r := judged(); r.Verdict != assert.Pass || !strings.HasSuffix(r.Detail, "(the worst of 3 clients)") {
		t.Errorf("%v: %s", r.Verdict, r.Detail)
	}
	for k := range 500 {
		h.Call("late "+strconv.Itoa(k)).Attempt(15*s+ns(k)*ms, ms, 200)
	}
	if r := judged(); r.Verdict != assert.Fail || r.Witness[0].Client != "c" {
		t.Errorf("%v: %s", r.Verdict, r.Detail)
	}
}
