package fault

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "ratelimit",
		Summary: "answers 429 with Retry-After to clients that send more than they may, in sliding windows for each client by itself",
		Example: "{ratelimit: {limits: [100/1m, 20/10s], identical: 3/1m, ceiling: 6000/1m}}",
		New:     func() Fault { return &Ratelimit{} },
		Spares:  3,
	})
}

// Ratelimit is a server's safety net. It refuses what is too much with 429, Retry-After and a problem document (RFC 9457)
// that says what to do, and leaves everything else alone. Only what was let through counts: who is refused is not refused
// longer for it, and costs nobody else anything. Who comes back no sooner than Retry-After said is let through; only room
// under the ceiling may have gone to others meanwhile.
type Ratelimit struct {
	Limits []Rate `yaml:"limits" doc:"of each client, all of them at once; default [100/1m, 20/10s], [] for none"`

	// Identical limits the requests of one client that have equal method, path, query and body. Those without a body are
	// left out: who polls does nothing wrong. nil: no such limit.
	Identical *Rate `yaml:"identical" doc:"of one client's requests with equal method, path, query and body; default none"`
	// Ceiling is the last resort. nil: none.
	Ceiling *Rate `yaml:"ceiling" doc:"of all clients together; default none"`
	// Advertise follows draft-ietf-httpapi-ratelimit-headers-11.
	Advertise bool `yaml:"advertise" doc:"sends RateLimit and RateLimit-Policy with every answer"`

	once    sync.Once
	limiter *limiter
}

// defaultLimits are what an API agreed on with its clients after a script had sent it 40 requests a second.
var defaultLimits = []Rate{{100, time.Minute}, {20, 10 * time.Second}}

// Fresh returns the same limits with all counters at zero.
func (l *Ratelimit) Fresh() Fault {
	return &Ratelimit{Limits: l.Limits, Identical: l.Identical, Ceiling: l.Ceiling, Advertise: l.Advertise}
}

// Select returns the refusal of a request that is over a limit, and counts one that is not.
func (l *Ratelimit) Select(w http.ResponseWriter, r *http.Request) Fault {
	l.once.Do(func() { l.limiter = newLimiter(l) })
	return l.limiter.judge(w, r)
}

// Weighs reports whether equal payloads are limited.
func (l *Ratelimit) Weighs() bool { return l.Identical != nil }

// Inject refuses the request, or leaves it to next.
func (l *Ratelimit) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if refusal := l.Select(w, r); refusal != nil {
		refusal.Inject(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}

// limits are those of each client, in the order of the plan.
func (l *Ratelimit) limits() []Rate {
	if l.Limits == nil {
		return defaultLimits
	}
	return l.Limits
}

// Validate finds limits that could never act, because another is reached first.
func (l *Ratelimit) Validate(n strict.Node) {
	limits := l.limits()
	rates := slices.Clone(limits)
	for _, r := range []*Rate{l.Identical, l.Ceiling} {
		if r != nil {
			rates = append(rates, *r)
		}
	}
	for _, r := range rates {
		if err := r.check(); err != nil && !n.Failed() {
			n.Fail("%v", err) // files have found it before
		}
	}
	if n.Failed() {
		return // nothing follows from what could not be read
	}
	nodes := n.At("limits").Seq()
	for i, limit := range limits {
		for j, other := range limits {
			// Of two that are equal, the second is one too many.
			if i != j && i < len(nodes) && other.implies(limit) && (j < i || !limit.implies(other)) {
				nodes[i].Fail("the limit %s never acts: %s is reached first", limit, other)
				break
			}
		}
	}
	for _, limit := range limits {
		if l.Identical != nil && limit.implies(*l.Identical) {
			n.At("identical").Fail("the limit %s on identical payloads never acts: the limit %s of the client is reached first", *l.Identical, limit)
			break
		}
	}
	for _, limit := range limits {
		if l.Ceiling != nil && l.Ceiling.implies(limit) {
			n.At("ceiling").Fail("under a ceiling of %s the limit %s never acts, and one client can take everything from the others; "+
				"want a ceiling far above what one client may send, or limits: [] to see what comes of that", *l.Ceiling, limit)
			break
		}
	}
	if len(rates) == 0 {
		n.Fail("nothing is limited; want limits, identical or ceiling")
	}
}
