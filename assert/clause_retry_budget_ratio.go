package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "retry-budget-ratio", Level: Major,
		Summary: "Over all its calls, a client's retries stay within a budget that its first attempts earn.",
		Measure: "For each client, in any stretch of the agreed length: retries less the reserve, by first attempts; one more is let pass, " +
			"since on its way it may overtake the first attempts that earned it. Where requests do not say which " +
			"call they belong to, the whole run is counted: what the client sent beyond the calls that it was given is retries.",
		Why: "A cap bounds one call, not a thousand: in an outage every call uses all its attempts, and the server gets several times its load just " +
			"when it can bear least. With a budget of 10 % it never gets more than 1.1 times.",
		Fix: "Keep one token bucket for each client and server: a first attempt adds 0.1 token, a retry takes one, and without a token the call fails " +
			"at once.",
		Source: "SRE book 2016, ch. 21 (10 % of a client's requests); gRPC A6 2017 (ratio 0.1, ten tokens); Finagle RetryBudget 2016 (0.2); " +
			"AWS standard retry mode 2020 (500 tokens, 5 a retry)",
		Samples: Samples{Calls: 200, Together: true},
		New: func(c *Contract) Clause {
			if c.Budget == (Budget{}) {
				return nil
			}
			return &RetryBudgetRatio{Budget: c.Budget}
		},
	})
}

// leastOffered is how many calls of a client in a stretch make its budget worth looking at.
const leastOffered = 10

// RetryBudgetRatio promises that retries stay a small part of what a client sends.
type RetryBudgetRatio struct {
	Budget Budget `yaml:"-"` // as agreed; the zero value means a ratio of 0.1 and 10 more in 30 s
}

// ID names the clause.
func (p RetryBudgetRatio) ID() string { return "retry-budget-ratio" }

// Check slides a window over the retries of each client.
func (p RetryBudgetRatio) Check(calls []Call) Result {
	if p.Budget == (Budget{}) {
		p.Budget = Budget{0.1, 10, 30 * time.Second}
	}
	r, v := Result{Clause: p.ID()}, budgetVerdict{}
	for _, list := range spendings(calls) {
		p.look(&v, list, calls[list[0].call].Run)
	}
	switch {
	case v.worst != nil:
		r.Verdict, r.Witness = Fail, v.worst
		r.Detail = v.detail
	case v.clients == 0:
		r.Detail = fmt.Sprintf("no client had %d calls to make in %s while its requests failed", leastOffered, span(p.Budget.Over))
	case v.unclear:
		r.Verdict, r.Detail = Inconclusive, "requests do not say which call they belong to, so retries cannot be told from first attempts; "+
			"an id with each call (X-Retrygate-Call, Idempotency-Key) would tell"
	default:
		r.Verdict = Pass
		r.Detail = fmt.Sprintf("at most %.0f %% of the agreed budget (%s)", 100*v.fullest, plural(v.clients, "client"))
	}
	return r
}

// spending is one attempt of a client.
type spending struct {
	at    time.Duration
	call  int
	retry bool
	entry *journal.Entry
}

// spendings lists the attempts of each client in order of arrival.
func spendings(calls []Call) (by [][]spending) {
	var clients numbering[string]
	for i := range calls {
		c := &calls[i]
		n := clients.of(c.Client)
		if int(n) == len(by) {
			by = append(by, nil)
		}
		for k := range c.Attempts {
			e := &c.Attempts[k]
			retry := k > 0 && infer.IsRetry(&c.Attempts[k-1], e)
			if retry || k == 0 {
				by[n] = append(by[n], spending{e.At, i, retry, e})
			}
		}
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b spending) int { return cmp.Compare(a.at, b.at) })
	}
	return by
}

type budgetVerdict struct {
	clients int
	unclear bool
	fullest float64
	excess  float64
	worst   []journal.Entry
	detail  string
}

// look judges one client.
func (p RetryBudgetRatio) look(v *budgetVerdict, list []spending, run *Run) {
	client := list[0].entry.Client
	if list[0].entry.Call == "" && list[0].entry.Key == "" { // retries and first attempts look alike
		p.lookAtAll(v, list, run.Given[client])
		return
	}
	retries, firsts, from, tried, asked := 0, 0, 0, false, false
	for i, a := range list {
		if a.retry {
			retries++
		} else {
			firsts++
		}
		for ; a.at-list[from].at > p.Budget.Over-run.Noise.Resolution; from++ {
			if list[from].retry {
				retries--
			} else {
				firsts--
			}
		}
		asked = asked || failed(a.entry)
		if firsts >= leastOffered {
			tried = true
			p.count(v, client, retries, firsts, list[from:i+1], span(p.Budget.Over))
		}
	}
	if tried && asked {
		v.clients++
	}
}

// lookAtAll judges a client by the number of its requests: those beyond the calls that it was given are retries.
func (p RetryBudgetRatio) lookAtAll(v *budgetVerdict, list []spending, given []time.Duration) {
	if len(given) < leastOffered || !slices.ContainsFunc(list, func(a spending) bool { return failed(a.entry) }) {
		return
	}
	v.clients++
	v.unclear = true
	stretches := 1 + int((list[len(list)-1].at-list[0].at)/p.Budget.Over)
	loose := p
	loose.Budget.Reserve *= stretches
	loose.count(v, list[0].entry.Client, len(list)-len(given), len(given), list, "the whole run")
}

// count holds retries to the budget.
func (p RetryBudgetRatio) count(v *budgetVerdict, client string, retries, firsts int, list []spending, while string) {
	allowed := p.Budget.Ratio*float64(firsts) + float64(p.Budget.Reserve)
	v.fullest = max(v.fullest, float64(retries)/max(1, allowed))
	if float64(retries) <= allowed+1 || float64(retries)-allowed <= v.excess {
		return
	}
	v.excess = float64(retries) - allowed
	v.detail = fmt.Sprintf("%s made %s for %s in %s; the contract allows %.0f (%v %% and %d)", named(client), counted(retries, "retry", "retries"),
		plural(firsts, "first attempt"), while, allowed, 100*p.Budget.Ratio, p.Budget.Reserve)
	v.worst = nil
	for _, a := range list {
		if a.retry && len(v.worst) < 2*mostWitnesses || len(v.worst) == 0 {
			v.worst = append(v.worst, *a.entry)
		}
	}
}
