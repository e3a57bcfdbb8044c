package assert

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "recovery-drain", Level: Critical, Counts: true,
		Summary: "When an outage ends, clients return gently, and what they had held back is done in bounded time.",
		Measure: "Requests of all clients after the last one that the outage failed: in any 10 s at most twice as many as before the outage, and back " +
			"within 20 % of that rate (in any 5 s) by twice the time that the outage takes to work off, outage / (1 - load), from its start. " +
			"Where requests came unevenly before the outage, as much more than that is undecided as chance explains (five standard deviations). " +
			"A drain that takes longer fails only if the canary's longest stall does not explain it.",
		Why: "Two minutes of 503 became four hours: on recovery the backlog came back all at once and knocked the receiver over again, so that every " +
			"request failed and came back once more.",
		Fix: "Cap the attempts of each call, or bound retries by a budget; release what waits at a pace well below the server's spare capacity. " +
			"Jitter and backoff alone do not end a storm, and a breaker that closes on everything at once restarts it.",
		Source:  "incident S2; model of retry storms (outage / (1 - load) measured within 10 %); Brooker 2022, What is backoff for?; SRE book 2016, ch. 22",
		Samples: Samples{Calls: 600},
		New:     func(*Contract) Clause { return &RecoveryDrain{} },
	})
}

const (
	drainWindow = 10 * time.Second
	calmWindow  = 5 * time.Second
	leastOutage = 5 * time.Second
	leastLead   = 20  // requests before the outage that tell the normal rate
	calm        = 1.2 // times the normal rate: what counts as back to normal
)

// RecoveryDrain promises a bounded return after an outage.
type RecoveryDrain struct {
	Peak float64 `yaml:"peak" doc:"requests in any 10 s after the outage, as a multiple of those before it; default 2"`
	Load float64 `yaml:"load" doc:"share of the server's capacity that normal traffic takes, which bounds how soon a backlog is done; default 0.5"`
}

// ID names the clause.
func (p RecoveryDrain) ID() string { return "recovery-drain" }

// Validate finds parameters that make no sense.
func (p *RecoveryDrain) Validate(n strict.Node) {
	between(n, "peak", p.Peak, 1, 1000)
	between(n, "load", p.Load, 0.01, 0.99)
}

// Check compares what came after the outage with what came before it. Clients that were each given work enough to show it
// had each an outage of their own: the worst counts. A fleet whose clients send too little for that is judged as one.
func (p RecoveryDrain) Check(calls []Call) Result {
	p.Peak, p.Load = cmp.Or(p.Peak, 2), cmp.Or(p.Load, 0.5)
	runs := byClient(calls)
	worst := p.one(runs[0])
	for _, run := range runs[1:] {
		if r := p.one(run); r.Verdict > worst.Verdict {
			worst = r
		}
	}
	switch {
	case len(runs) == 1:
	case worst.Verdict == NotExercised:
		return p.one(calls)
	default:
		worst.Detail += fmt.Sprintf(" (the worst of %d clients)", len(runs))
	}
	return worst
}

// byClient takes calls apart that several clients were given; else they are one lot.
func byClient(calls []Call) [][]Call {
	if len(calls) == 0 || len(calls[0].Run.Given) < 2 {
		return [][]Call{calls}
	}
	lots, index := [][]Call(nil), map[string]int{}
	for _, c := range calls {
		at, ok := index[c.Client]
		if !ok {
			at = len(lots)
			index[c.Client], lots = at, append(lots, nil)
		}
		lots[at] = append(lots[at], c)
	}
	return lots
}

// one judges one outage.
func (p RecoveryDrain) one(calls []Call) Result {
	r := Result{Clause: p.ID()}
	o, why := outageIn(calls)
	if why != "" {
		r.Detail = why
		return r
	}
	run := loosest(calls)
	most := crowded(o.after, drainWindow, run.Noise.Early(drainWindow))
	peak := float64(len(most)) / (o.rate * drainWindow.Seconds())
	normal := fmt.Sprintf("%.3g requests a second before an outage of %s", o.rate, span(o.lasted()))
	if peak > p.Peak {
		r.Detail = fmt.Sprintf("%d requests came within %s after it, %.1f times as many as in calm times (%s); the contract allows %v times",
			len(most), span(drainWindow), peak, normal, p.Peak)
		if float64(len(most)) <= o.byChance(p.Peak, drainWindow) {
			r.Verdict = Inconclusive
			r.Detail += "; but requests came so unevenly before it that chance explains the rest"
			return r
		}
		r.Verdict, r.Witness = Fail, entriesOf(o.edge, most)
		return r
	}
	drained, worst := o.drained()
	allowed := o.from + time.Duration(2*float64(o.lasted())/(1-p.Load))
	took, may := span(drained-o.from), span(allowed-o.from)
	by := lateness{o.edge.at, drained, drained - allowed, 1}
	switch {
	case drained > allowed && by.excuse(run.Noise) == "":
		r.Verdict, r.Witness = Fail, entriesOf(o.edge, worst)
		r.Detail = fmt.Sprintf("%s after its start requests still came at more than %v times the normal rate (%s); the contract allows %s",
			took, calm, normal, may)
	case drained > allowed:
		r.Verdict, r.Detail = Inconclusive, fmt.Sprintf("requests came at more than the normal rate (%s) until %s after its start; but %s",
			normal, took, by.excuse(run.Noise))
	case drained+calmWindow >= o.until && o.until < allowed && !run.Ended || o.until < o.edge.at+drainWindow:
		r.Verdict, r.Detail = Inconclusive, fmt.Sprintf("watched for %s after it only (%s)", span(o.until-o.edge.at), normal)
	default:
		r.Verdict, r.Detail = Pass, fmt.Sprintf("at most %.1f times the normal rate in %s, and back to normal %s after its start; the contract "+
			"allows %v times and %s (%s)", peak, span(drainWindow), span(max(drained, o.edge.at)-o.from), p.Peak, may, normal)
	}
	return r
}

// outage is a stretch of time in which a server failed its clients, with what came before and after.
type outage struct {
	from, until time.Duration // its start, and the end of the watch
	edge        arrival       // the last request that it failed
	rate        float64       // requests a second before it
	lead        time.Duration // for how long they were counted
	uneven      float64       // how much their number varies: 0 at a fixed interval, 1 as chance has it, more in bursts
	after       []arrival
}

func (o outage) lasted() time.Duration { return o.edge.at - o.from }

// outageIn finds the outage of a history that began well and went on behind it; else it says what is missing.
func outageIn(calls []Call) (o outage, missing string) {
	all := arrivals(calls, func(*journal.Entry) int32 { return 0 })
	if len(all) == 0 {
		return o, "no request arrived"
	}
	list := all[0]
	first := slices.IndexFunc(list, func(a arrival) bool { return serverFailed(a.entry) })
	if first < 0 {
		return o, "no request met an outage"
	}
	rule, last, failures := list[first].entry.Rule, first, 0
	for i, a := range list[first:] {
		if serverFailed(a.entry) && a.entry.Rule == rule {
			last = first + i
			failures++
		}
	}
	o = outage{from: list[first].at, until: max(calls[0].Run.Until, list[len(list)-1].at), edge: list[last], after: list[last+1:]}
	switch {
	case o.lasted() < leastOutage || 10*failures < 9*(last-first+1):
		return o, "no outage lasted: nothing failed requests without a break for " + span(leastOutage)
	case first < leastLead || o.from-list[0].at < time.Second:
		return o, "too few requests came before the outage to know the normal rate"
	case len(o.after) == 0:
		return o, "no request came after the outage, so nothing shows how clients return"
	}
	o.lead = o.from - list[0].at
	o.rate, o.uneven = float64(first)/o.lead.Seconds(), unevenness(list[:first+1])
	return o, ""
}

// unevenness is the squared coefficient of variation of the times between arrivals, which is by how much the variance of
// their number exceeds that of a Poisson process.
func unevenness(list []arrival) float64 {
	mean := float64(list[len(list)-1].at-list[0].at) / float64(len(list)-1)
	sum := 0.0
	for i := range list[1:] {
		off := float64(list[i+1].at-list[i].at) - mean
		sum += off * off
	}
	return sum / float64(len(list)-1) / (mean * mean)
}

// byChance is how many requests come in a stretch of time at so many times the normal rate, at most: five standard
// deviations above the mean, of which a part is how well the normal rate is known.
func (o outage) byChance(times float64, in time.Duration) float64 {
	mean := times * o.rate * in.Seconds()
	return mean + 5*math.Sqrt(o.uneven*(mean+mean*mean/(o.rate*o.lead.Seconds())))
}

// serverFailed reports whether the server, not the client, made an end of a request, so that trying again later makes sense.
func serverFailed(e *journal.Entry) bool {
	return !e.Open && e.Gone == 0 && (e.Status == 0 || e.Status >= 500 || e.Status == 429 || e.Cut)
}

// drained is the end of the last stretch of 5 s that was fuller than normal traffic makes it, with its requests; the end
// of the outage when there is none.
func (o outage) drained() (at time.Duration, worst []arrival) {
	full := int(math.Ceil(max(calm*o.rate*calmWindow.Seconds(), o.byChance(1, calmWindow)))) + 2
	at, from := o.edge.at, 0
	for i, a := range o.after {
		for a.at-o.after[from].at >= calmWindow {
			from++
		}
		if i-from+1 > full {
			at, worst = a.at, o.after[from:i+1]
		}
	}
	return at, worst
}

// loosest is how the call was watched that may have gone on, if one may.
func loosest(calls []Call) *Run {
	for i := range calls {
		if !calls[i].Run.Ended {
			return calls[i].Run
		}
	}
	return calls[0].Run
}

// entriesOf shows the edge of an outage and what came behind it.
func entriesOf(edge arrival, list []arrival) []journal.Entry {
	entries := []journal.Entry{*edge.entry}
	for _, a := range list[:min(len(list), 2*mostWitnesses)] {
		entries = append(entries, *a.entry)
	}
	return entries
}
