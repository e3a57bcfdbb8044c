package contract

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/suites/driver"
)

const ms = time.Millisecond

// failing is a call whose attempts are answered 503 after 1 ms, and whose client waits so many milliseconds in between.
func failing(waits ...int) assert.Call {
	c := assert.Call{Run: &assert.Run{}}
	var at time.Duration
	for i := range len(waits) + 1 {
		c.Attempts = append(c.Attempts, journal.Entry{Method: "GET", At: at, Took: ms, Status: 503})
		if i < len(waits) {
			at += ms + time.Duration(waits[i])*ms
		}
	}
	return c
}

// gaps are the waits of calls, in milliseconds.
func gaps(calls []assert.Call) (all [][]int) {
	for _, c := range calls {
		var own []int
		for k := range len(c.Attempts) - 1 {
			own = append(own, int(c.Gap(k)/ms))
		}
		all = append(all, own)
	}
	return all
}

func same(t *testing.T, what string, got []assert.Call, want ...[]int) {
	t.Helper()
	all := gaps(got)
	for i := range want {
		for k := range want[i] {
			if len(all) != len(want) || len(all[i]) != len(want[i]) || all[i][k] != want[i][k] {
				t.Errorf("%s: waits of %v, want %v", what, all, want)
				return
			}
		}
	}
}

// atSpeed is a run with what slower clocks showed of it.
func atSpeed(speed int, seen glimpses, calls ...assert.Call) *outcome {
	return &outcome{Outcome: &driver.Outcome{}, calls: calls, seen: seen, speeds: []int{speed}}
}

// A client needs 20 ms of the machine's time before its first retry, and 2 ms before each later one: at speed 36 its waits of
// 1, 2, 4 and 8 s are longer by much, and glimpses show all but the last.
func TestGlimpsesTellTheFirstWaits(t *testing.T) {
	seen := glimpses{
		{speed: 1, calls: []assert.Call{failing(1001), failing(1002), failing(1001)}},
		{speed: 6, calls: []assert.Call{failing(1120, 2012, 4012), failing(1120, 2012, 4012)}},
	}
	fast := failing(1720, 2072, 4072, 8072)
	o := atSpeed(36, seen, fast, fast, fast, fast)
	p := paces{pace: driver.Pace{Overhead: 20 * ms, Later: 20 * ms}}
	if own := o.paced(p).pace.Later; own != 2*ms {
		t.Errorf("the client takes %v for itself in later waits, want 2ms", own)
	}
	if own := o.paced(paces{}).pace.Overhead; own != 719*ms/35 {
		t.Errorf("not known before, it takes %v for itself in the first wait, want a thirty-fifth of 719ms", own)
	}
	same(t, "judged", o.composed(asSeen), []int{1001, 2012, 4012, 8072}, []int{1002, 2012, 4012, 8072},
		[]int{1001, 2012, 4012, 8072}, []int{1001, 2012, 4012, 8072})
	same(t, "shown", o.shown(p).waits[:1], []int{1001, 2002, 4002, 8002})
	same(t, "shorter by what cannot be told", o.slowed(p)[:1], []int{1001, 2012 - 6*2.5, 4012 - 6*2.5, 8072 - 36*2.5})
	if o.defies() {
		t.Error("the client is said not to obey its clock")
	}
}

// Of clients that draw their waits each wait of a glimpse stands for one: none is counted twice.
func TestGlimpsesOfJitterAreNotRepeated(t *testing.T) {
	seen := glimpses{{speed: 1, calls: []assert.Call{failing(500), failing(900)}}}
	o := atSpeed(36, seen, failing(700, 1000), failing(600, 1100), failing(800, 1200))
	same(t, "judged", o.composed(asSeen), []int{500, 1000}, []int{900, 1100}, []int{800, 1200})
}

// A glimpse shows a wait only of a call that failed in the same way; of one that the server asked for, what came on top.
func TestGlimpsesOfOtherFailures(t *testing.T) {
	c, other := failing(1700), failing(1001)
	wait := func(k int) []time.Duration { return glimpse{speed: 1, calls: []assert.Call{other}}.waits(&c, k) }
	if got := wait(0); len(got) != 1 || got[0] != 1001*ms {
		t.Errorf("waits of %v, want 1.001s", got)
	}
	if got := wait(1); got != nil {
		t.Errorf("there is no second wait: %v", got)
	}
	other.Attempts[0].Status = 429
	if got := wait(0); got != nil {
		t.Errorf("another status is no other failure: %v", got)
	}
	other.Attempts[0].Status, other.Attempts[0].RetryAfter = 503, "1"
	if got := wait(0); got != nil {
		t.Errorf("a wait that was asked for is the client's own: %v", got)
	}
	c.Attempts[0].RetryAfter = "3"
	if got := wait(0); len(got) != 1 || got[0] != 3001*ms {
		t.Errorf("told to wait 3 s, the client waits for %v", got)
	}
}

// Of waits that are drawn those that end before the glimpse does are the shorter ones: they do not stand for all.
func TestGlimpsesAreNotOfTheShortOnly(t *testing.T) {
	short, long := failing(500, 900), failing(900)
	short.Client, long.Client = "client-1", "client-2"
	g := glimpse{speed: 1, calls: []assert.Call{short, long}, stopped: map[string]bool{"client-1": true, "client-2": true}}
	c := failing(700, 1000)
	if got := g.waits(&c, 0); len(got) != 2 {
		t.Errorf("first waits of %v, want two", got)
	}
	if got := g.waits(&c, 1); got != nil {
		t.Errorf("second waits of %v although a client was stopped in its own", got)
	}
	g.stopped["client-2"] = false // it gave up
	if got := g.waits(&c, 1); len(got) != 1 {
		t.Errorf("second waits of %v, want one", got)
	}
}

// A client that was taken by chance to obey a faster clock is found out: what it waits is real time.
func TestGlimpsesFindWhoDefiesTheClock(t *testing.T) {
	seen := glimpses{{speed: 1, calls: []assert.Call{failing(1001, 2001), failing(1001, 2001)}}}
	if o := atSpeed(36, seen, failing(36_040, 72_040), failing(36_030, 72_030)); !o.defies() {
		t.Error("36 times as long by a clock 36 times as fast is no obedience")
	}
	if o := atSpeed(36, seen, failing(3000, 2072)); o.defies() {
		t.Error("what loads for long before its first retry may obey")
	}
}

// Without a trial it is the glimpses that show obedience: those of real time if these show a wait, else those of the next clock.
func TestGlimpsesShowObedience(t *testing.T) {
	first, half := glimpse{speed: 1, calls: []assert.Call{failing(1001, 2001)}}, glimpse{speed: 6, calls: []assert.Call{failing(6100, 12_100, 18_000)}}
	for name, c := range map[string]struct {
		seen glimpses
		fast []int
		want bool
	}{
		"the same waits":                           {glimpses{first}, []int{1040, 2040}, true},
		"longer by what it loads":                  {glimpses{first}, []int{4700, 2100}, true},
		"waits of real time":                       {glimpses{first}, []int{36_040, 72_040}, false},
		"a third of that":                          {glimpses{first}, []int{12_100, 24_100}, false},
		"not seen in real time, alike":             {glimpses{half}, []int{6900, 12_300, 18_100}, true},
		"not seen in real time, six times as long": {glimpses{half}, []int{36_900, 72_300, 108_000}, false},
		"real time counts first":                   {glimpses{first, half}, []int{36_040, 72_040, 18_100}, false},
		"nothing seen":                             {nil, []int{1040, 2040}, false},
		"no wait":                                  {glimpses{first}, nil, false},
	} {
		if got := atSpeed(36, c.seen, failing(c.fast...)).obeys(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRetimeLeavesOverlapsAlone(t *testing.T) {
	c := failing(1000, 1000)
	c.Attempts[1].At = 0 // sent before the first had failed
	c.Attempts[1].Gone = 500 * ms
	got := retime(&c, func(int) time.Duration { return -5 })
	c.Attempts = got
	if c.Attempts[1].At != 0 || c.Attempts[1].Gone != 500*ms || c.Gap(1) != 0 {
		t.Errorf("%+v", got)
	}
}

// What the machine's usual lateness alone leaves open is not certain: it would be decided on a slower clock.
func TestQuietForgetsLateness(t *testing.T) {
	c := failing(1000)
	c.Run.Noise.Slices = []assert.Slice{{P50: 400 * ms, P99: 720 * ms, Max: 1440 * ms}}
	o := atSpeed(36, nil, c)
	got := o.quiet(o.calls, 36).calls[0].Run.Noise.Slices[0]
	if got.P50 != 0 || got.P99 != 20*ms || got.Max != 40*ms {
		t.Errorf("%+v", got)
	}
	if c.Run.Noise.Slices[0].P50 != 400*ms {
		t.Error("the run's own noise has changed")
	}
}

// Clients that come back together are seen to do so in real time, whatever a fast clock makes of their waits; and so is jitter.
// The waits that not every client has shown to its end count for nothing.
func TestGlimpsesTellJitter(t *testing.T) {
	c := assert.Strict()
	s := &session{Request: Request{Contract: c}}
	r := &run{}
	for _, j := range c.Judges() {
		if j.Kind.ID == "jitter-present" || j.Kind.ID == "min-spacing" {
			r.clauses = append(r.clauses, j)
		}
	}
	look := look{Preflight: &driver.Preflight{}}
	for want, by := range map[assert.Verdict]int{assert.Fail: 0, assert.Pass: 90} {
		g := glimpse{speed: 1, out: &driver.Outcome{Fired: map[string]uint64{"": 1}}, stopped: map[string]bool{}}
		for i := range 10 {
			c := failing(1000+i%3+by*i, 2000+2*i%3+by*i, 100*i)
			c.Client = fmt.Sprint("client-", i)
			c.Run.Noise.Slices = []assert.Slice{{P50: ms, P99: 2 * ms, Max: 3 * ms}}
			if i > 4 {
				c.Attempts = c.Attempts[:3]
				g.stopped[c.Client] = true
			}
			g.calls = append(g.calls, c)
		}
		o := atSpeed(36, glimpses{g})
		o.early = s.early(o, r, look)
		if got := o.early.results["jitter-present"]; got.Verdict != want || !o.shownEarly("jitter-present") {
			t.Errorf("jitter-present %v (%s), want %v", got.Verdict, got.Detail, want)
		}
		if o.shownEarly("min-spacing") {
			t.Error("min-spacing is decided by the beginning alone")
		}
		if got := gaps(o.by("jitter-present")); len(got[0]) != 2 {
			t.Errorf("judged by waits of %v, want two each", got)
		}
	}
	if s.early(atSpeed(36, glimpses{{speed: 6}}), r, look) != nil {
		t.Error("a glimpse on a fast clock tells how far apart waits lie")
	}
}

// Each wait is judged by the lateness on the clock that showed it.
func TestNoiseIsThatOfTheClock(t *testing.T) {
	seen := glimpses{{speed: 1, noise: assert.Slice{P50: ms, P99: 2 * ms, Max: 3 * ms}, calls: []assert.Call{failing(1001)}}}
	fast := failing(1720, 2072)
	fast.Run.Until = 4 * time.Second
	fast.Run.Noise.Slices = []assert.Slice{{P50: 400 * ms, P99: 500 * ms, Max: 600 * ms}}
	o := atSpeed(36, seen, fast)
	c := o.hushed(o.composed(asSeen))[0]
	for k, want := range []time.Duration{ms, 400 * ms} {
		if got := c.Run.Noise.P50(c.Attempts[k].End(), c.Attempts[k+1].At); got != want {
			t.Errorf("in wait %d the machine was late by %v, want %v", k, got, want)
		}
	}
	if got := fast.Run.Noise.P50(0, time.Second); got != 400*ms {
		t.Errorf("the run's own noise is %v now", got)
	}
}

// Where equal waits would decide, it is the fast clock that drew them apart.
func TestAlike(t *testing.T) {
	o := atSpeed(36, nil, failing(1000, 2100), failing(1200, 2000), failing(1400, 2200))
	same(t, "alike", o.alike(), []int{1200, 2100}, []int{1200, 2100}, []int{1200, 2100})
	j := assert.Judged{Kind: kindOf("jitter-present")}
	open := func(asSeen, alike assert.Verdict) *variants {
		says := func(v assert.Verdict) *outcome {
			return &outcome{results: map[string]assert.Result{j.Kind.ID: {Verdict: v}}}
		}
		return &variants{squeezed: says(asSeen), quiet: says(asSeen), alike: says(alike)}
	}
	if open(assert.Inconclusive, assert.Fail).show(j, assert.Inconclusive) {
		t.Error("what real time would decide is certain")
	}
	if !open(assert.Inconclusive, assert.Inconclusive).show(j, assert.Inconclusive) {
		t.Error("too few calls stay too few in real time")
	}
}

// What has to be shown twice, or only noise left open, needs no slower clock; what a slower one shows anyway is not run twice.
func TestCurable(t *testing.T) {
	o := &outcome{noisy: map[string]bool{"noisy": true, "open": false}}
	broken := map[string]bool{"broken": true, "settled": false}
	for _, row := range []struct {
		open            []string
		between, atLast bool
	}{
		{nil, false, false}, {[]string{"broken"}, true, true}, {[]string{"noisy", "broken"}, true, true},
		{[]string{"open"}, false, false}, {[]string{"open", "noisy"}, false, true}, {[]string{"broken", "settled"}, false, true},
	} {
		if got := o.curable(row.open, broken, false); got != row.between {
			t.Errorf("%q is run again before a slower run: %v", row.open, got)
		}
		if got := o.curable(row.open, broken, true); got != row.atLast {
			t.Errorf("%q is run again at the last speed: %v", row.open, got)
		}
	}
}

// What only a fast clock showed of a short wait is not told as the client's: the glimpsed calls are, unless there are none.
func TestShortWaitsOnAFastClockAreNotTold(t *testing.T) {
	seen := glimpses{{speed: 1, calls: []assert.Call{failing(300), failing(450)}}}
	short, long := failing(1200), failing(900, 64000)
	p := paces{pace: driver.Pace{Overhead: 10 * ms, Later: ms}}
	o := atSpeed(36, seen, failing(1100), long, short, failing(9000)) // of the last one a slower clock showed others
	told := o.shown(p).waits
	for i, want := range []int{0, 0, 1, 1} {
		if told[i].Untimed != want {
			t.Errorf("call %d is untimed from attempt %d, want %d", i, told[i].Untimed, want)
		}
	}
	same(t, "told", timed(told), []int{300}, []int{450, 64000 - 35})
	if told := atSpeed(1, nil, short).shown(p).waits; told[0].Untimed > 0 {
		t.Error("in real time a wait is what it is")
	}
	if p := assert.Inferred(told); p.Backoff.Waits != 2 { // the first ones of those that are told
		t.Errorf("the policy is read from %d waits, want 2", p.Backoff.Waits)
	}
}

// What a slower clock showed in one scenario is not read from the run itself in another, if that was faster: a call ends there, and so
// does what is told of it, and what the policy is read from. Waits after network failures are no measure for those after answers, and
// a call that has ended is none for what comes behind.
func TestSlowerClocksAreRead(t *testing.T) {
	broken := failing(5000, 2000)
	broken.Attempts[0].Status = 0
	early := glimpses{{speed: 1, calls: []assert.Call{failing(1000)}}, {speed: 6, calls: []assert.Call{failing(1000, 2010)}}}
	for _, row := range []struct {
		name string
		runs []*outcome
		want [][]int // attempts before which waits are not told, of each run
		read int     // waits that the policy is read from
	}{
		{"a run beside one that was glimpsed", []*outcome{atSpeed(36, early, failing(1700, 2700, 9000)), atSpeed(36, nil, failing(9000, 9000))}, [][]int{{0}, {1}}, 3},
		{"in real time and glimpsed", []*outcome{atSpeed(36, early, failing(1700, 2700, 9000)), atSpeed(1, nil, failing(1000, 2000, 4000))}, [][]int{{3}, {0}}, 5},
		{"what ends shows nothing behind", []*outcome{
			atSpeed(36, glimpses{{speed: 1, calls: []assert.Call{failing(1000)}}}, failing(1000, 30000, 30000)), atSpeed(12, nil, failing(1000, 30000, 30000)),
		}, [][]int{{0}, {1}}, 3},
		{"the network", []*outcome{atSpeed(36, nil, broken), atSpeed(1, nil, failing(1000))}, [][]int{{0}, {0}}, 2},
	} {
		s := sessionOf(row.runs...)
		told := s.told(paces{pace: driver.Pace{Overhead: ms, Later: ms}})
		var read []assert.Call
		for i, want := range row.want {
			for k := range want {
				if got := told[i].waits[k].Untimed; got != want[k] {
					t.Errorf("%s: call %d of run %d is untimed from attempt %d, want %d", row.name, k, i, got, want[k])
				}
			}
			read = append(read, told[i].policy...)
		}
		if got := assert.Inferred(read).Backoff.Waits; got != row.read {
			t.Errorf("%s: the policy is read from %d waits, want %d", row.name, got, row.read)
		}
	}
}

// Of drawn waits, how much longer those of the fast clock are is chance: no more is taken off than before the first retry.
func TestDrawnWaitsAreNotCut(t *testing.T) {
	seen := glimpses{{speed: 1, calls: []assert.Call{failing(1000, 400), failing(1000, 900)}}}
	o := atSpeed(36, seen, failing(1035, 1900, 4000), failing(1035, 1800, 8000))
	same(t, "told", o.shown(paces{pace: driver.Pace{Overhead: ms, Later: ms}}).waits, []int{1000, 400, 3965}, []int{1000, 900, 7965})
	seen = glimpses{{speed: 1, calls: []assert.Call{failing(1000, 1000), failing(1000, 1000)}}}
	o = atSpeed(36, seen, failing(1035, 2400, 5400), failing(1035, 2400, 5400))
	same(t, "of one that always takes as long", o.shown(paces{pace: driver.Pace{Overhead: ms, Later: ms}}).waits, []int{1000, 1000, 4000}, []int{1000, 1000, 4000})
}

// Whether a wait that a server asked for was kept is read without what the client takes for itself: by that it seems to be longer on a
// fast clock. Other policies are read with it.
func TestAskedWaitsAreReadWithoutTheClientsOwnTime(t *testing.T) {
	seen := glimpses{{speed: 1, calls: []assert.Call{failing(1000, 1000)}}}
	p := paces{pace: driver.Pace{Overhead: 20 * ms, Later: 20 * ms}}
	same(t, "with it", atSpeed(36, seen, failing(1700, 1700, 1200)).shown(p).policy, []int{1000, 1000, 1200})
	asked := failing(1700, 1700, 1200)
	asked.Attempts[2].RetryAfter = "1"
	same(t, "asked for", atSpeed(36, seen, asked).shown(p).policy, []int{1000, 1000, 500})
}

// sessionOf is a session whose runs have ended.
func sessionOf(outs ...*outcome) *session {
	s := &session{}
	for _, o := range outs {
		s.runs = append(s.runs, &run{clauses: make([]assert.Judged, 1), out: newLazy(func() *outcome { return o })})
	}
	s.runs = append(s.runs, &run{}) // of which the contract judges nothing
	return s
}

// In two scenarios a client waits for 0.3 s and takes 40 ms for itself, which a trial did not show; only the first was seen on a
// slower clock. That is told, then, and not the other. Where no slower clock showed any, they are told as they are.
func TestWaitsOfAScenarioWithoutGlimpses(t *testing.T) {
	seen := glimpses{{speed: 1, calls: []assert.Call{failing(300)}}}
	asked := failing(5000)
	asked.Attempts[0].RetryAfter = "5"
	for _, row := range []struct {
		name  string
		runs  []*outcome
		known []int // calls of each that are told
	}{
		{"short", []*outcome{atSpeed(36, seen, failing(1700)), atSpeed(36, nil, failing(1700))}, []int{1, 0}},
		{"longer", []*outcome{atSpeed(36, seen, failing(1700)), atSpeed(36, nil, failing(9000), failing(1700))}, []int{1, 0}},
		{"alone", []*outcome{atSpeed(36, nil, failing(100))}, []int{1}},
		{"beside waits that the server asked for", []*outcome{atSpeed(36, nil, failing(100)), atSpeed(36, seen, asked)}, []int{1, 1}},
		{"in real time", []*outcome{atSpeed(36, seen, failing(1700)), atSpeed(1, nil, failing(300))}, []int{1, 1}},
		{"that failed", []*outcome{{err: errors.New("no")}, atSpeed(36, nil, failing(100))}, []int{0, 1}},
	} {
		s := sessionOf(row.runs...)
		told := s.told(paces{pace: driver.Pace{Overhead: ms, Later: ms}})
		for i, want := range row.known {
			if got := len(timed(told[i].waits)); got != want {
				t.Errorf("%s: %d calls of scenario %d are told, want %d", row.name, got, i+1, want)
			}
		}
	}
}
