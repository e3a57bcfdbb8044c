package assert

import (
	"fmt"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// What a contract may say about a client that keeps working. Each section switches on the clause that judges it; {} agrees
// on the defaults. A zero value promises nothing.

// Budget bounds the retries of a client over all its calls.
type Budget struct {
	Ratio   float64       `doc:"retries for each first attempt; default 0.1 (SRE book 2016; gRPC A6)"`
	Reserve int           `doc:"retries on top of those that first attempts earn; default 10 (gRPC A6: ten tokens)"`
	Over    time.Duration `doc:"length of the stretch of time that they are counted in; default 30 s"`
}

// Validate fills in the defaults, and finds budgets that forbid everything or nothing.
func (b *Budget) Validate(n strict.Node) {
	unset(n, "ratio", &b.Ratio, 0.1)
	unset(n, "reserve", &b.Reserve, 10)
	unset(n, "over", &b.Over, 30*time.Second)
	strict.Between(n, "ratio", b.Ratio, 0, 10)
	strict.Between(n, "reserve", b.Reserve, 0, most.attempts)
	strict.AtLeast(n, "over", b.Over, time.Second)
	atMost(n, "over", b.Over, most.within, "no run counts so far")
	if b.Ratio == 0 && b.Reserve == 0 && !n.Failed() {
		n.Fail("budget: without ratio and reserve no retry is allowed; for that write attempts: {max: 1}")
	}
}

// Breaker says when a client stops calling a server that fails.
type Breaker struct {
	Failures int           `doc:"attempts that fail before it opens at the latest; default 100 (resilience4j, Polly: 100 calls at least)"`
	Open     time.Duration `doc:"how long it lets through nothing but probes; default 5 s (Polly)"`
	Probes   int           `doc:"requests that it lets through in that time to try the server; default 1 (Polly; resilience4j: 10)"`
}

// Validate fills in the defaults, and finds breakers that never open.
func (b *Breaker) Validate(n strict.Node) {
	unset(n, "failures", &b.Failures, 100)
	unset(n, "open", &b.Open, 5*time.Second)
	unset(n, "probes", &b.Probes, 1)
	strict.Between(n, "failures", b.Failures, 1, most.attempts)
	strict.AtLeast(n, "open", b.Open, 100*time.Millisecond)
	atMost(n, "open", b.Open, most.wait, "no run lasts that long")
	strict.Between(n, "probes", b.Probes, 1, most.attempts)
}

// Hedging lets a client send a second copy of a request while the first is still under way.
type Hedging struct {
	After time.Duration `doc:"how long a copy waits for the request before it; no default: the 95th percentile of normal latency is usual (The Tail at Scale, 2013)"`
	Max   int           `doc:"copies at most, the first one included; default 2"`
	Share float64       `doc:"share of all calls that may get a copy; default 0.05"`
}

// Validate fills in the defaults; how long to wait has none, since every API has its own latency.
func (h *Hedging) Validate(n strict.Node) {
	unset(n, "max", &h.Max, 2)
	unset(n, "share", &h.Share, 0.05)
	if _, ok := n.Field("after"); !ok && !n.Failed() {
		n.Fail("after: say how long a copy waits for the one before, as in hedging: {after: 200ms}; the 95th percentile of normal latency is usual")
		return
	}
	strict.AtLeast(n, "after", h.After, 10*time.Millisecond)
	atMost(n, "after", h.After, most.wait, "no client waits that long")
	strict.Between(n, "max", h.Max, 2, 100)
	strict.Between(n, "share", h.Share, 0.001, 1)
}

// Poll says that a client asks for the same thing again and again by itself.
type Poll struct {
	Every time.Duration `doc:"how long from one request to the next while all is well; no default"`
}

// Validate wants an interval that a run can see a few of.
func (p *Poll) Validate(n strict.Node) {
	if _, ok := n.Field("every"); !ok && !n.Failed() {
		n.Fail("every: say how far apart the requests are, as in poll: {every: 30s}")
		return
	}
	strict.AtLeast(n, "every", p.Every, 100*time.Millisecond)
	atMost(n, "every", p.Every, most.wait, "no run lasts that long")
}

// unset gives a field that the file leaves out its default.
func unset[T comparable](n strict.Node, field string, v *T, value T) {
	if _, ok := n.Field(field); !ok && *v == *new(T) {
		*v = value
	}
}

func (b Budget) sentence() string {
	if b == (Budget{}) {
		return ""
	}
	return fmt.Sprintf("Over all calls of a client, retries are at most **%v %% of first attempts** and %s more, in any %s.",
		100*b.Ratio, counted(b.Reserve, "retry", "retries"), spoken(b.Over))
}

func (b Breaker) sentence() string {
	if b == (Breaker{}) {
		return ""
	}
	return fmt.Sprintf("After **%s** in a row a client stops calling; while the server fails it sends at most **%s in %s**, and goes on "+
		"when one has succeeded.", counted(b.Failures, "failed attempt", "failed attempts"), counted(b.Probes, "probe", "probes"), spoken(b.Open))
}

func (h Hedging) sentence() string {
	if h == (Hedging{}) {
		return ""
	}
	return fmt.Sprintf("A copy of a request that may be repeated can be sent when there is no answer after **%s**: %s of it in all, for at most "+
		"**%v %% of calls**. When one is answered the others are cancelled.", spoken(h.After), counted(h.Max, "copy", "copies"), 100*h.Share)
}

func (p Poll) sentence() string {
	if p == (Poll{}) {
		return ""
	}
	return fmt.Sprintf("The client asks every **%s** by itself, and not more often when requests fail or after it was held up.",
		strings.TrimSpace(spoken(p.Every)))
}
