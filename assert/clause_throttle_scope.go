package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "throttle-scope", Level: Major, Late: true, Counts: true,
		Summary: "A client that is told to wait holds back all its calls, not only the one that was told.",
		Measure: "Requests of other calls of the same client that arrive while an answer's Retry-After runs, from 250 ms behind that answer on, for " +
			"the statuses whose Retry-After the contract honours; none may. Calls that were under way need the time in between to hear of it; it " +
			"is stretched to twice the canary's longest stall.",
		Why: "A limit belongs to the client. One that lets every call find out by itself keeps sending at full rate: each call earns its own 429, the " +
			"limiter never gets quiet, and what it protects is asked all the same.",
		Fix: "Keep the time until which the server asked for quiet next to the connection pool, not in the call, and let every call wait for it before " +
			"it sends; or send all calls through one rate limiter that answers with Retry-After slow down.",
		Source:  "incident S1; IETF RateLimit header draft 2025 (Retry-After takes precedence); AWS SDK adaptive retry mode 2020 (one token bucket a client)",
		Samples: Samples{Calls: 30},
		New: func(c *Contract) Clause {
			for s := minStatus; s <= maxStatus; s++ {
				if c.Responses.Status(s).Honour {
					return &ThrottleScope{Max: c.RetryAfter.Max, Table: c.Responses}
				}
			}
			return nil
		},
	})
}

// ThrottleScope promises that Retry-After holds for the whole client.
type ThrottleScope struct {
	Settle time.Duration `yaml:"settle" doc:"how long calls that are under way may take to hear of it; default 250 ms"`
	Max    time.Duration `yaml:"max" doc:"longest time for which a client has to be quiet; default retry-after.max, else 30 days"`
	Table  *Responses    `yaml:"-"` // which statuses' Retry-After is honoured; nil: the strict table
}

// ID names the clause.
func (p ThrottleScope) ID() string { return "throttle-scope" }

// Validate finds parameters that make no sense.
func (p *ThrottleScope) Validate(n strict.Node) {
	atLeast(n, "settle", p.Settle, time.Millisecond)
	atLeast(n, "max", p.Max, time.Second)
}

// Check looks at what each client sends while it was asked to be quiet.
func (p ThrottleScope) Check(calls []Call) Result {
	p.Settle, p.Max = cmp.Or(p.Settle, lateFloor), cmp.Or(p.Max, most.wait)
	if p.Table == nil {
		p.Table = StrictResponses()
	}
	var clients numbering[string]
	var sent [][]sending
	asked := p.asked(calls)
	for i := range calls {
		if !asked[calls[i].Client] {
			continue
		}
		for k := range calls[i].Attempts {
			n := clients.of(calls[i].Client)
			if int(n) == len(sent) {
				sent = append(sent, nil)
			}
			sent[n] = append(sent[n], sending{calls[i].Attempts[k].At, int32(i), int32(k)})
		}
	}
	var v scopeVerdict
	for _, list := range sent {
		slices.SortStableFunc(list, func(a, b sending) int { return cmp.Compare(a.at, b.at) })
		p.follow(&v, calls, list)
	}
	return v.result(p.ID())
}

// asked are the clients that were told when to come back.
func (p ThrottleScope) asked(calls []Call) map[string]bool {
	asked := map[string]bool{}
	for i := range calls {
		for k := range calls[i].Attempts {
			if calls[i].Attempts[k].RetryAfter != "" {
				asked[calls[i].Client] = true
				break
			}
		}
	}
	return asked
}

// sending is one attempt of a client.
type sending struct {
	at            time.Duration
	call, attempt int32
}

// scopeVerdict counts the times that clients were asked to be quiet.
type scopeVerdict struct {
	asked, broken int
	worst         []journal.Entry
	detail, doubt string
}

// follow goes through what one client sent. What it is told while it is to be quiet anyway changes nothing.
func (p ThrottleScope) follow(v *scopeVerdict, calls []Call, list []sending) {
	var quiet time.Duration
	for i, a := range list {
		c := &calls[a.call]
		e := &c.Attempts[a.attempt]
		if e.RetryAfter == "" || endOf(e) < quiet || !e.Delivered() || !p.Table.Status(e.Status).Honour {
			continue
		}
		if asked, ok := Asked(*e, c.Run.Began); ok && asked > p.Settle {
			asked = min(asked, p.Max)
			quiet = endOf(e) + asked
			p.look(v, calls, list[i:], asked)
		}
	}
}

// look judges what a client sent after the first of its attempts was answered.
func (p ThrottleScope) look(v *scopeVerdict, calls []Call, list []sending, asked time.Duration) {
	c := &calls[list[0].call]
	e := &c.Attempts[list[0].attempt]
	end, noise := endOf(e), c.Run.Noise
	from, until := end+max(p.Settle, 2*noise.Max(end, end+p.Settle)), end+asked-Early(asked)
	pressed := slices.ContainsFunc(c.Run.Given[e.Client], func(at time.Duration) bool { return at > from && at < until })
	others := []journal.Entry{*e}
	for _, a := range list[1:] {
		if a.at >= until+asked || a.at >= until && pressed || len(others) > 2*mostWitnesses {
			break
		}
		switch own := a.call == list[0].call; {
		case own || a.at <= from:
		case a.at < until:
			others = append(others, calls[a.call].Attempts[a.attempt])
		default: // held back, or there was nothing to send before
			pressed = true
		}
	}
	switch n := len(others) - 1; {
	case n == 0 && pressed:
		v.asked++
	case n == 0:
	case !noise.Known():
		v.doubt = p.say(e, n, asked) + "; but " + noCanary
	default:
		v.asked++
		v.broken++
		if len(others) > len(v.worst) {
			v.detail, v.worst = p.say(e, n, asked), others
		}
	}
}

func (p ThrottleScope) say(e *journal.Entry, n int, asked time.Duration) string {
	more := ""
	if n >= 2*mostWitnesses {
		more = " or more"
	}
	return fmt.Sprintf("%s was asked to wait %s by a %d, and sent %s%s of other calls meanwhile", named(e.Client), span(asked), e.Status,
		plural(n, "request"), more)
}

func (v *scopeVerdict) result(id string) Result {
	r := Result{Clause: id}
	switch {
	case v.broken > 0:
		r.Verdict, r.Witness = Fail, v.worst
		r.Detail = fmt.Sprintf("%s (%d of %s)", v.detail, v.broken, plural(v.asked, "time"))
	case v.doubt != "":
		r.Verdict, r.Detail = Inconclusive, v.doubt
	case v.asked > 0:
		r.Verdict, r.Detail = Pass, "asked to wait, clients held back all their calls ("+plural(v.asked, "time")+")"
	default:
		r.Detail = "no client that had several calls to make was asked to wait"
	}
	return r
}
