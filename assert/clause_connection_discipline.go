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
		ID: "connection-discipline", Level: Minor,
		Summary: "Retries use the connection again that brought a whole answer, and broken connections are not replaced in a hurry.",
		Measure: "Of the retries that follow a fault's whole answer over HTTP/1.1 within 4 s, the share that came over another connection: more than " +
			"20 % of 20 or more fail. 408 and 421, which ask for another connection, answers before the body was read and those of an " +
			"upstream, which may close by itself, are left out. And connections that break without an answer: from 5 s after the first, " +
			"more than one a second over 10 s fail.",
		Why: "A new connection for each retry costs the server a handshake where it had one open, exactly when it has no time, and uses up the " +
			"client's ports. A thousand clients that reconnect without a wait keep a restarted server from ever coming up.",
		Fix: "Read the body of a failed answer to its end, or close it only when it is long, before the retry; share one client between attempts. " +
			"Back off before connecting again, as before sending again (gRPC: 1 s, times 1.6, up to 120 s).",
		Source:  "RFC 9112 9.3 (June 2022); gRPC connection backoff; go-retryablehttp v0.7.8 reads up to 4 KiB of a failed answer (read in 2026)",
		Samples: Samples{Calls: 7, Gaps: 3},
		New:     func(*Contract) Clause { return &ConnectionDiscipline{} },
	})
}

// ConnectionDiscipline promises that retries do not multiply connections.
type ConnectionDiscipline struct {
	Share float64 `yaml:"share" doc:"of the retries after a whole answer, how many may come over a new connection, 0.01 to 1; default 0.2"`
	Rate  Rate    `yaml:"rate" doc:"connections of one client that may break without an answer, from 5 s after the first; default 10/10s"`
}

const (
	leastReused   = 20              // retries that a share needs
	idleFor       = 4 * time.Second // longest wait over which a client has to keep a connection; Node's fetch keeps none longer
	reconnectFrom = 5 * time.Second // after the first broken connection; before, a few attempts are a burst
)

// ID names the clause.
func (p ConnectionDiscipline) ID() string { return "connection-discipline" }

// Validate finds parameters that make no sense.
func (p *ConnectionDiscipline) Validate(n strict.Node) {
	between(n, "share", p.Share, 0.01, 1)
}

// Check looks at which connections retries came over, and how often broken ones were replaced.
func (p ConnectionDiscipline) Check(calls []Call) Result {
	p.Share = cmp.Or(p.Share, 0.2)
	if p.Rate.IsZero() {
		p.Rate = Rate{10, 10 * time.Second}
	}
	if r, storm := p.reconnects(calls); storm {
		return r
	}
	r := Result{Clause: p.ID()}
	retries, anew := 0, 0
	var shown []journal.Entry
	for i := range calls {
		c := &calls[i]
		for k := range len(c.Attempts) - 1 {
			if !p.reusable(c, k) {
				continue
			}
			retries++
			if e, next := &c.Attempts[k], &c.Attempts[k+1]; e.Conn != next.Conn {
				anew++
				if len(shown) < 6 {
					shown = append(shown, *e, *next)
				}
			}
		}
	}
	if retries == 0 {
		r.Detail = "no retry followed a whole answer over a connection that could be used again"
		return r
	}
	r.Detail = fmt.Sprintf("%d of %d retries came over a new connection although the one before had brought a whole answer", anew, retries)
	switch {
	case float64(anew) <= p.Share*float64(retries):
		r.Verdict = Pass
	case retries < leastReused:
		r.Verdict = Inconclusive
		r.Detail += fmt.Sprintf("; %d retries would tell", leastReused)
	default:
		r.Verdict, r.Witness = Fail, shown
		r.Detail += fmt.Sprintf("; the contract allows %.0f %%", 100*p.Share)
	}
	return r
}

// reusable reports whether attempt k+1 is a retry that could have come over the connection of attempt k, which faults keep
// open unless their headers say otherwise.
func (p ConnectionDiscipline) reusable(c *Call, k int) bool {
	e, wait := &c.Attempts[k], c.Gap(k)
	return e.Delivered() && e.Fault != "" && failed(e) && e.Status != 408 && e.Status != 421 && !e.Early && !e.Refused() && e.Conn != 0 && c.Attempts[k+1].Conn != 0 &&
		e.Proto == "HTTP/1.1" && !e.Closing && wait >= 0 && wait <= idleFor && c.Step(k+1) == StepRetry
}

// reconnects looks for clients that replace broken connections too fast.
func (p ConnectionDiscipline) reconnects(calls []Call) (Result, bool) {
	var clients numbering[string]
	var broken [][]arrival
	for i := range calls {
		for k := range calls[i].Attempts {
			e := &calls[i].Attempts[k]
			if !diedUnanswered(e) || e.Conn == 0 {
				continue
			}
			n := clients.of(e.Client)
			if int(n) == len(broken) {
				broken = append(broken, nil)
			}
			broken[n] = append(broken[n], arrival{e.At, e})
		}
	}
	v := rateVerdict{id: p.ID(), limits: []Rate{p.Rate}, rounded: rounded(calls)}
	for _, list := range broken {
		slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
		later := slices.IndexFunc(list, func(a arrival) bool { return a.at >= list[0].at+reconnectFrom })
		if later >= 0 {
			v.add(list[later:], nil)
		}
	}
	if v.broken == 0 {
		return Result{}, false
	}
	return v.result(calls, "", func(n int, limit Rate, e *journal.Entry) string {
		return fmt.Sprintf("%s made %d connections within %s that broke without an answer; the contract allows %d", named(e.Client), n, span(limit.Per), limit.N)
	}), true
}
