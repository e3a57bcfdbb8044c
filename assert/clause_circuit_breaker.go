package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "circuit-breaker", Level: Major, Counts: true,
		Summary: "A client stops calling a server that keeps failing, and tries it only now and then until it answers.",
		Measure: "For each client, in its longest row of requests that the server fails (no answer, a 5xx, 408 or 429, one that the client gave up): how many fail before it sends nothing " +
			"for half of the agreed time, with as many more as it had under way at a time; and after that the most requests in any stretch as long as that time, until one is answered. Where the " +
			"driver gave it calls all the while, silence for ten times that long behind the last failure fails too, unless the canary's longest stall " +
			"or a Retry-After explains it.",
		Why: "Calls to a server that is down only cost both sides: threads that wait here, connections and queues that have to be worked off there. A " +
			"breaker gives the server room to come up.",
		Fix: "Count failures over the last calls and open the breaker when most have failed; while it is open fail calls at once; then let single probes " +
			"through, and close only when they succeed. Let what was held back go little by little: see recovery-drain.",
		Source: "Nygard 2007, Release It!; resilience4j CircuitBreakerConfig 2024 (100 calls, 10 probes); Polly 8 2023 and the .NET standard pipeline " +
			"(100 calls in 30 s, open for 5 s, one probe)",
		Samples: Samples{Calls: 200, Together: true},
		New: func(c *Contract) Clause {
			if c.Breaker == (Breaker{}) {
				return nil
			}
			return &CircuitBreaker{Breaker: c.Breaker}
		},
	})
}

// CircuitBreaker promises that a client leaves a failing server alone.
type CircuitBreaker struct {
	Breaker Breaker `yaml:"-"` // as agreed; the zero value means 100 failures, 5 s and one probe
}

// ID names the clause.
func (p CircuitBreaker) ID() string { return "circuit-breaker" }

// Check follows each client through the failures.
func (p CircuitBreaker) Check(calls []Call) Result {
	if p.Breaker == (Breaker{}) {
		p.Breaker = Breaker{100, 5 * time.Second, 1}
	}
	var v breakerVerdict
	var clients numbering[string]
	for _, list := range arrivals(calls, func(e *journal.Entry) int32 { return clients.of(e.Client) }) {
		p.look(&v, list, calls[0].Run)
	}
	r := Result{Clause: p.ID()}
	switch {
	case v.worst != nil:
		r.Verdict, r.Detail, r.Witness = Fail, v.detail, v.worst
	case v.doubt != "":
		r.Verdict, r.Detail = Inconclusive, v.doubt
	case v.opened > 0:
		r.Verdict = Pass
		r.Detail = fmt.Sprintf("stopped calling after %s, and sent at most %s in %s after that (%s)", plural(v.failures, "failure"),
			counted(v.probes, "probe", "probes"), span(p.Breaker.Open), plural(v.opened, "client"))
	case v.short > 0:
		r.Verdict = Inconclusive
		r.Detail = fmt.Sprintf("the failures ended too soon to see a client do without for half of %s", span(p.Breaker.Open))
	default:
		r.Detail = fmt.Sprintf("no client met as many failures without a success as the contract allows before a breaker opens (%d)", p.Breaker.Failures)
	}
	return r
}

type breakerVerdict struct {
	opened, short    int
	failures, probes int
	worst            []journal.Entry
	detail, doubt    string
}

// look judges one client by its longest run of failures.
func (p CircuitBreaker) look(v *breakerVerdict, list []arrival, run *Run) {
	spell, ended := longestFailure(list, run)
	inflight := overlapping(spell, run)
	most := p.Breaker.Failures + inflight
	opens := -1 // the last failure before it is quiet
	for i := range spell {
		next := ended
		if i+1 < len(spell) {
			next = spell[i+1].at
		}
		if next-spell[i].at >= p.Breaker.Open/2-run.Noise.Resolution {
			opens = i
			break
		}
	}
	switch failures := opens + 1; {
	case opens < 0 && len(spell) > most, failures > most:
		v.breach(list[0].entry.Client, spell[:most+1], fmt.Sprintf("went on after %d failures in a row; the contract wants it to stop calling after %d",
			len(spell), p.Breaker.Failures))
		return
	case opens < 0:
		if len(spell) > 0 && len(spell) >= p.Breaker.Failures {
			v.short++
		}
		return
	case len(run.Given[list[0].entry.Client]) == 0 && failures < p.Breaker.Failures:
		return // it may have had nothing to send
	}
	v.opened++
	v.failures = max(v.failures, opens+1)
	probes := crowded(spell[opens+1:], p.Breaker.Open, run.Noise.Early(p.Breaker.Open))
	v.probes = max(v.probes, len(probes))
	if len(probes) > p.Breaker.Probes {
		v.breach(list[0].entry.Client, probes, fmt.Sprintf("sent %d requests within %s although its breaker was open and none had succeeded; the contract "+
			"allows %s", len(probes), span(p.Breaker.Open), counted(p.Breaker.Probes, "probe", "probes")))
		return
	}
	p.stuck(v, list, run)
}

// stuckAfter is how many times the agreed pause a client may send nothing before its breaker counts as stuck: some let the
// pause grow with each probe that fails.
const stuckAfter = 10

// stuck looks for a client that was given calls and sent none of them, for long, behind a failure: its breaker never tries
// the server again, as where a probe that failed, or never ended, leaves it half open.
func (p CircuitBreaker) stuck(v *breakerVerdict, list []arrival, run *Run) {
	last := list[len(list)-1]
	if !serverFailed(last.entry) && last.entry.Gone == 0 && !last.entry.Open {
		return
	}
	since := endOf(last.entry)
	if asked, ok := Asked(*last.entry, run.Began); ok {
		since += max(0, asked)
	}
	held, latest := 0, since
	for _, at := range run.Given[last.entry.Client] {
		if at > since {
			held, latest = held+1, max(latest, at)
		}
	}
	quiet, may := latest-since, stuckAfter*p.Breaker.Open
	if held < stuckAfter || quiet <= may {
		return
	}
	text := fmt.Sprintf("sent nothing for %s after its last failure, although it was given %s meanwhile; the contract lets it try the server after %s",
		span(quiet), plural(held, "call"), span(p.Breaker.Open))
	if why := (lateness{since, latest, quiet - may, 1}).excuse(run.Noise); why != "" {
		v.doubt = named(last.entry.Client) + " " + text + "; but " + why
		return
	}
	v.breach(last.entry.Client, []arrival{last}, text)
}

func (v *breakerVerdict) breach(client string, shown []arrival, what string) {
	if len(shown) <= len(v.worst) {
		return
	}
	v.detail, v.worst = named(client)+" "+what, nil
	for _, a := range shown {
		v.worst = append(v.worst, *a.entry)
	}
}

// longestFailure is the longest row of requests that the server failed, with none between that it answered, and when it ended.
func longestFailure(list []arrival, run *Run) (spell []arrival, ended time.Duration) {
	from := 0
	for i := 0; i <= len(list); i++ {
		if i < len(list) && !answered(list[i].entry) {
			continue
		}
		if i-from > len(spell) {
			spell, ended = list[from:i], run.Until
			if i < len(list) {
				ended = list[i].at
			}
		}
		from = i + 1
	}
	return spell, ended
}

// answered reports whether the server did its work, also where the request was wrong or had nothing new: no breaker counts
// that as a failure. A client that left, or is waiting still, was not answered.
func answered(e *journal.Entry) bool {
	return !e.Open && e.Gone == 0 && e.Status != 408 && !serverFailed(e)
}

// overlapping is the largest number of requests that were under way at a time.
func overlapping(list []arrival, run *Run) int {
	begins, ends := make([]time.Duration, len(list)), make([]time.Duration, len(list))
	for i, a := range list {
		begins[i], ends[i] = a.at, openUntil(a.entry, run)
	}
	return mostTogether(begins, ends)
}
