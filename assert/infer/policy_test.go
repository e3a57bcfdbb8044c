package infer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// story writes calls: what each attempt was answered, and what was waited before it.
type story struct{ calls []Call }

// step is one attempt: the wait before it, and its answer.
type step struct {
	wait  time.Duration
	what  string // a status, or a class of network failure
	asked time.Duration
}

func (s *story) call(client, method string, over bool, steps ...step) *story {
	start := time.Duration(len(s.calls)) * time.Hour
	c := Call{Client: client, Method: method, Over: over}
	for i, x := range steps {
		start += x.wait
		network := x.what[0] > '9'
		c.Attempts = append(c.Attempts, Attempt{
			At: start, End: start + time.Millisecond, Answer: x.what, Network: network, Failed: network || x.what >= "400",
			Retry: i > 0, Told: x.asked != 0, Asked: x.asked,
		})
		start += time.Millisecond
	}
	s.calls = append(s.calls, c)
	return s
}

// failing adds a call that fails until the client gives up.
func (s *story) failing(method, answer string, waits ...time.Duration) *story {
	steps := []step{{0, answer, 0}}
	for _, w := range waits {
		steps = append(steps, step{w, answer, 0})
	}
	return s.call("a", method, true, steps...)
}

// told adds a call whose first answer asks for a wait.
func (s *story) told(answer string, asked, waited time.Duration, after ...time.Duration) *story {
	steps := []step{{0, answer, asked}, {waited, answer, 0}}
	for _, w := range after {
		steps = append(steps, step{w, answer, 0})
	}
	return s.call("a", "GET", true, steps...)
}

func (s *story) times(n int, tell func(*story)) *story {
	for range n {
		tell(s)
	}
	return s
}

func (s *story) policy() Policy { return Of(s.calls, Options{}) }

func doubling(n int) (waits []time.Duration) {
	for k := range n {
		waits = append(waits, second<<k)
	}
	return waits
}

func verdictOf(p Policy, answer string) Verdict {
	i := slices.IndexFunc(p.Answers, func(a Answer) bool { return a.Answer == answer })
	if i < 0 {
		return "unseen"
	}
	return p.Answers[i].Verdict
}

func TestAttempts(t *testing.T) {
	for _, test := range []struct {
		name     string
		story    *story
		max      int
		decided  bool
		sentence string
	}{
		{"four times", new(story).times(5, func(s *story) { s.failing("GET", "503", doubling(3)...) }), 4, true, "tries a call 4 times at most"},
		{"never again", new(story).times(5, func(s *story) { s.failing("GET", "503") }), 1, true, "does not retry"},
		{"succeeded before it gave up", new(story).times(5, func(s *story) {
			s.call("a", "GET", true, step{0, "503", 0}, step{second, "503", 0}, step{second, "200", 0})
		}), 0, false, "tries a call 3 times or more"},
		{"watched too briefly", new(story).times(5, func(s *story) {
			s.call("a", "GET", false, step{0, "503", 0}, step{second, "503", 0})
		}), 2, false, "tries a call about 2 times, which is not certain"},
		{"a loop", new(story).call("a", "GET", false, slices.Repeat([]step{{100 * time.Millisecond, "400", 0}}, 200)...), 0, false,
			"sent 200 attempts of one call and no end was seen"},
		{"400 ends what 503 does not", new(story).times(4, func(s *story) {
			s.failing("GET", "503", doubling(3)...).failing("GET", "400")
		}), 4, true, "tries a call 4 times at most"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := test.story.policy()
			if p.Attempts.Max != test.max || p.Attempts.Decided != test.decided || !strings.HasPrefix(p.Sentence(), test.sentence) {
				t.Errorf("%+v\n%s", p.Attempts, p.Sentence())
			}
			if !p.Attempts.Decided && p.Attempts.Needs == "" {
				t.Error("nothing says what would decide")
			}
		})
	}
}

// A client that stops by the clock makes as many attempts as fit.
func TestTimeBound(t *testing.T) {
	s := new(story)
	for i := range 10 {
		s.failing("GET", "503", slices.Repeat([]time.Duration{time.Duration(8+i%5) * second}, 60/(8+i%5))...)
	}
	a := s.policy().Attempts
	if a.Within == nil || a.Max != 0 || a.Within.Low > 60_100 || a.Within.High < 60_000 {
		t.Errorf("%+v, %+v", a, a.Within)
	}
}

func TestAnswers(t *testing.T) {
	s := new(story).times(4, func(s *story) {
		s.failing("GET", "503", doubling(3)...).failing("GET", "reset", doubling(3)...).failing("GET", "404").failing("GET", "408", second)
		s.failing("GET", "413").told("413", second, second, 2*second, 4*second)
	})
	p := s.policy()
	for answer, want := range map[string]Verdict{"503": Retried, "reset": Retried, "404": NotRetried, "408": Once} {
		if got := verdictOf(p, answer); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
	if text := p.Sentence(); !strings.Contains(text, "retries 503 and reset, 408 once") || !strings.Contains(text, "not 404") {
		t.Error(text)
	}
	told := new(story).times(4, func(s *story) {
		s.failing("GET", "429").call("a", "GET", true, step{0, "429", second}, step{second, "200", 0})
	}).policy()
	if got := verdictOf(told, "429"); got != WithRetryAfter {
		t.Errorf("429: %s", got)
	}
}

func TestMethods(t *testing.T) {
	p := new(story).times(4, func(s *story) {
		s.failing("GET", "503", doubling(2)...).failing("POST", "503").failing("PUT", "503", doubling(2)...)
	}).policy()
	if got := p.methodNames(Retried); !slices.Equal(got, []string{"GET", "PUT"}) {
		t.Errorf("retried: %v", got)
	}
	if got := p.methodNames(NotRetried); !slices.Equal(got, []string{"POST"}) {
		t.Errorf("not retried: %v", got)
	}
	if verdictOf(p, "503") != Retried {
		t.Errorf("a POST that is never sent again says nothing of 503: %+v", p.Answers)
	}
	keyed := new(story).times(4, func(s *story) {
		s.failing("POST", "503", doubling(2)...)
		s.calls[len(s.calls)-1].Keyed = true
		s.failing("POST", "503")
	}).policy()
	if got := keyed.methodNames(WithKey); !slices.Equal(got, []string{"POST"}) {
		t.Errorf("%+v", keyed.Methods)
	}
}

func TestRetryAfter(t *testing.T) {
	own := func(s *story) { s.failing("GET", "503", doubling(3)...) }
	for _, test := range []struct {
		name  string
		story *story
		want  Heed
		check func(r RetryAfter) bool
	}{
		{"never asked", new(story).times(3, own), HeedUnseen, func(RetryAfter) bool { return true }},
		{"kept", new(story).times(3, own).told("429", 5*second, 5*second, second, second).told("503", 7*second, 7100*time.Millisecond, second, second), HeedKept,
			func(r RetryAfter) bool { return r.KeptUpTo == 7000 && r.GivesUp == nil }},
		{"ignored", new(story).times(3, func(s *story) { s.told("429", 5*second, second, 2*second, 4*second) }), HeedIgnored, func(RetryAfter) bool { return true }},
		{"cut to 30 s (undici)", new(story).told("503", 5*second, 5*second, second, second).told("503", 30*second, 30*second, second, second).
			told("503", 61*second, 30*second, second, second).told("503", 121*second, 30*second, second, second), HeedCapped,
			func(r RetryAfter) bool { return r.Cap.Value == 30_000 }},
		{"given up above a minute (azcore)", new(story).times(3, own).told("429", 31*second, 31*second, second, second).
			call("a", "GET", true, step{0, "429", 61 * second}), HeedKept,
			func(r RetryAfter) bool {
				return r.GivesUp != nil && r.GivesUp.Low == 31_000 && r.GivesUp.High == 61_000
			}},
		{"on 429 and not on 500", new(story).times(3, func(s *story) {
			s.told("429", 5*second, 5*second, second, second).told("500", 5*second, second, second, second)
		}), HeedKept, func(r RetryAfter) bool { return slices.Equal(r.Ignored, []string{"500"}) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if r := test.story.policy().RetryAfter; r.Verdict != test.want || !test.check(r) {
				t.Errorf("%+v %+v", r, r.GivesUp)
			}
		})
	}
}

// Waits that the server set are no waits of the client's own, and what failed may decide how long it waits.
func TestWaitsByFailure(t *testing.T) {
	p := new(story).times(5, func(s *story) {
		s.failing("GET", "503", second).failing("GET", "reset", 0).told("503", 9*second, 9*second)
	}).policy()
	if p.Other == nil || p.Other.Growth.Family != "immediate" || p.Backoff.First.Value != 1000 {
		t.Errorf("%s", p.Sentence())
	}
	alike := new(story).times(5, func(s *story) { s.failing("GET", "503", doubling(3)...).failing("GET", "reset", doubling(3)...) }).policy()
	if alike.Other != nil || alike.Backoff.Calls != 10 {
		t.Errorf("%s", alike.Sentence())
	}
}

func TestBudgetAndBreaker(t *testing.T) {
	budget := new(story)
	for i := range 60 {
		if i < 10 || i%10 == 0 {
			budget.failing("GET", "503", second, second)
		} else {
			budget.failing("GET", "503")
		}
	}
	if p := budget.policy(); p.Budget == nil || p.Budget.Ratio < 0.15 || p.Budget.Ratio > 0.25 || p.Budget.Free < 20 {
		t.Errorf("%+v", p.Budget)
	}
	var calls []Call
	at := time.Duration(0)
	for i := range 40 {
		if i >= 20 { // every probe is followed by a pause
			at += 10 * second
		}
		calls = append(calls, Call{Client: "a", Method: "GET", Over: true, Attempts: []Attempt{{At: at, End: at + 1, Answer: "503", Failed: true}}})
		at += 50 * time.Millisecond
	}
	p := Of(calls, Options{})
	if b := p.Breaker; b == nil || b.Failures != 20 || b.Open.Value < 9900 || b.Open.Value > 10_100 || b.Probes != 1 {
		t.Errorf("%+v", b)
	}
	for i := range calls {
		calls[i].Run = fmt.Sprint(i)
	}
	if p := Of(calls, Options{}); p.Breaker != nil {
		t.Errorf("seen in times of runs that have nothing to do with each other: %+v", p.Breaker)
	}
	if p := new(story).times(60, func(s *story) { s.failing("GET", "503", second) }).policy(); p.Budget != nil || p.Breaker != nil {
		t.Errorf("seen where there is none: %+v %+v", p.Budget, p.Breaker)
	}
}

func TestSentence(t *testing.T) {
	s := new(story).times(10, func(s *story) {
		s.failing("GET", "503", doubling(4)...).failing("GET", "429", doubling(4)...).failing("GET", "400")
		s.told("503", 5*second, 5*second, second, second, second)
	})
	want := "tries a call 5 times at most; waits 1 s, growing 2-fold each time, without jitter; retries 429 and 503, not 400; " +
		"sends GET again; keeps Retry-After (up to 5 s was asked)"
	if got := s.policy().Sentence(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Of(nil, Options{}).Sentence(); got != "no calls were seen, so nothing is known" {
		t.Error(got)
	}
}

// Every format writes every kind of policy, within its width, and numbers stay numbers.
func TestFormats(t *testing.T) {
	stories := []*story{
		new(story), new(story).failing("GET", "503"), new(story).times(5, func(s *story) { s.failing("GET", "503", doubling(4)...) }),
		new(story).times(5, func(s *story) { s.failing("GET", "reset", second, 2*second) }),
		new(story).times(5, func(s *story) { s.failing("POST", "503", 5*second, 300*second, 1800*second, 7200*second) }),
		new(story).times(5, func(s *story) { s.failing("GET", "503", 0, 0, 5*second, 0, 0, 9*second, 0, 0) }),
		new(story).times(3, func(s *story) { s.told("429", 5*second, second) }),
	}
	for i, s := range stories {
		p := s.policy()
		in := Inference{Files: []string{"x"}, Policies: []Named{{Client: "c|<x>", Sentence: p.Sentence(), Policy: p}}}
		for _, f := range Formats.All() {
			t.Run(fmt.Sprintf("%d %s", i, f.Name), func(t *testing.T) {
				var b bytes.Buffer
				if err := f.Write(&b, in, 80); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(b.String(), strings.Fields(p.Sentence())[0]) || strings.Contains(b.String(), "%!") || strings.Contains(b.String(), "NaN") {
					t.Error(b.String())
				}
				if f.Name == "json" && !json.Valid(b.Bytes()) {
					t.Error("not JSON")
				}
				if f.Name == "markdown" && strings.Contains(b.String(), "<x>") {
					t.Error("a name acts as markup")
				}
			})
		}
	}
}

// A connection that is turned away before a request tells no method: none is listed for it.
func TestNoRequestHasNoMethod(t *testing.T) {
	p := new(story).failing("", "refused", second, second).failing("POST", "503", second, second).policy()
	if len(p.Methods) != 1 || p.Methods[0].Method != "POST" {
		t.Errorf("methods %+v", p.Methods)
	}
}

// A clock counts for the waits that are read from it: not where the server asked for one, nor for those after another kind of failure.
func TestClocksOfPolicies(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const clock = 36
	failing := func(answer string, network, told bool, clock float64, waits ...float64) Call {
		c := Call{Client: "a", Method: "GET", Over: true}
		at := time.Duration(0)
		for k := range len(waits) + 1 {
			c.Attempts = append(c.Attempts, Attempt{At: at, End: at + time.Millisecond, Answer: answer, Network: network, Failed: true, Retry: k > 0, Told: told, Clock: clock})
			if k < len(waits) {
				at += time.Millisecond + time.Duration((waits[k]+0.001*r.ExpFloat64()*clock)*1e9)
			}
		}
		return c
	}
	var drawn, fixed []Call
	for range 10 {
		draw := func(d float64) float64 { return d * (0.9 + 0.2*r.Float64()) }
		drawn = append(drawn, failing("503", false, false, 1, draw(0.5), draw(1), draw(2), draw(4)))
		fixed = append(fixed, failing("503", false, false, 1, 0.1, 0.2, 0.4, 0.8), failing("reset", true, false, clock, 0.5, 1, 2, 4))
	}
	o := Options{Lateness: 2 * time.Millisecond, Stall: 3 * time.Millisecond}
	if p := Of(append(drawn, failing("429", false, true, clock, 30, 30)), o); p.Backoff.Jitter.Kind != JitterProportional {
		t.Errorf("beside a wait that was asked for: %s", p.Sentence())
	}
	if p := Of(fixed, o); p.After == "" || p.Backoff.Growth.Family != "exponential" || p.Other.Growth.Family != "exponential" {
		t.Errorf("on two clocks: %s", p.Sentence())
	}
	clocks := []float64{1, 1, 1, 6, 6, 36, 36}
	clocked := func(wait func(k int) float64) (calls []Call) {
		for range 12 {
			var waits []float64
			for k, clock := range clocks {
				waits = append(waits, wait(k)+(clock-1)*(0.003+0.004*r.Float64()))
			}
			c := failing("503", false, false, 1, waits...)
			for k, clock := range clocks {
				c.Attempts[k+1].Clock = clock
			}
			calls = append(calls, c)
		}
		return calls
	}
	if p := Of(clocked(func(k int) float64 { return math.Pow(2, float64(k)) }), o); p.Backoff.Jitter.Kind != JitterNone {
		t.Errorf("none: %s", p.Sentence())
	}
	added := clocked(func(k int) float64 { return 0.1*math.Pow(2, float64(k)) + 0.1*r.Float64() })
	if p := Of(added, o); p.Backoff.Jitter.Kind != JitterAdditive {
		t.Errorf("additive: %s", p.Sentence())
	}
}
