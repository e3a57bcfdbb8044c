package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "redirect-bound", Level: Major,
		Summary: "A chain of redirects is followed so far and no further: it ends with an error.",
		Measure: "How many redirects in a row the client follows in one call: answers 301, 302, 303, 307 or 308 with a Location, each followed by a " +
			"request for what it names. More than 20 fail. A request for the call's first URL that comes 50 ms or more after the redirect that " +
			"leads back to it counts as a new start.",
		Why: "Two servers that send a client to each other, a login that sends it back: a client without a bound follows them for ever, as fast as " +
			"the network allows.",
		Fix: "Set the library's maximum (10 in Go, 20 in browsers and OkHttp, 30 in Python's requests, none in some), count over all hosts and " +
			"methods, and treat the end as an error that is not retried: the next try meets the same loop.",
		Source: "RFC 9110 15.4 (June 2022: a client should detect and intervene in cyclical redirections); oblac/jodd issue 674, urllib3 pull " +
			"request 553 (read in 2026)",
		Samples: Samples{Calls: 2},
		New: func(c *Contract) Clause {
			return &RedirectBound{Quiet: quietOf(c)}
		},
	})
}

// RedirectBound promises that chains of redirects end.
type RedirectBound struct {
	Max   int           `yaml:"max" doc:"redirects that may be followed in a row; default 20"`
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

const (
	usualRedirects = 20                    // as browsers
	followsAt      = 50 * time.Millisecond // a client follows at once; what comes later may be a new start
)

// ID names the clause.
func (p RedirectBound) ID() string { return "redirect-bound" }

// Validate finds parameters that make no sense.
func (p *RedirectBound) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, 1)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check counts the redirects that were followed.
func (p RedirectBound) Check(calls []Call) Result {
	if p.Max == 0 {
		p.Max = usualRedirects
	}
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	longest := 0
	for i := range calls {
		c := &calls[i]
		hops, last, met := followed(c)
		switch {
		case hops > p.Max:
			t.breach(c, float64(hops), func() (string, []journal.Entry) {
				return fmt.Sprintf("%s followed %d redirects in a row; the contract says %d at most, and then an error", named(c.Client), hops, p.Max),
					[]journal.Entry{c.Attempts[last-hops], c.Attempts[last-hops+1], c.Attempts[last]}
			})
		case met:
			longest = max(longest, hops)
			t.keep(ends.over(c))
		}
	}
	return t.result("no more than "+plural(longest, "redirect")+" were followed in a row", "no call was redirected",
		ends.unsure("no more than "+plural(longest, "redirect")+" were followed in a row"))
}

// followed is the longest row of redirects that the call followed, and the attempt that it ended with. met reports whether
// there was any redirect.
func followed(c *Call) (most, last int, met bool) {
	hops, first := 0, &c.Attempts[0]
	for i := range c.Attempts {
		to, ok := targetOf(&c.Attempts[i])
		if met = met || ok; !ok || i+1 == len(c.Attempts) {
			hops = 0
			continue
		}
		next := &c.Attempts[i+1]
		anew := next.Path == first.Path && next.Query == first.Query && next.At-endOf(&c.Attempts[i]) >= followsAt+patience(&c.Attempts[i], c.Run)
		if to.path != next.Path || to.query != next.Query || anew {
			hops = 0
			continue
		}
		if hops++; hops > most {
			most, last = hops, i+1
		}
	}
	return most, last, met
}
