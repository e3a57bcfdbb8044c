package fault

import (
	"hash/maphash"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// limiter is a Ratelimit at work. Times are since it began.
type limiter struct {
	limits    []bound // without what is known of a client
	keep      int     // requests that the limits look back on at most
	identical *Rate
	advertise bool
	began     time.Time
	seed      maphash.Seed

	longest time.Duration // that a limit looks back

	clients generations[string, client]
	ceiling *ceiling // nil: none
}

// client is what is known of one client. Its lock is its own, so that nobody else waits for it.
type client struct {
	mu       sync.Mutex
	recent   recent
	payloads generations[uint64, recent] // by a hash of method, path, query and body
}

// ceiling is the limit of all clients together.
type ceiling struct {
	rate  Rate
	opens atomic.Int64 // when it lets the next request through; clients over their own limits read this and take no lock

	mu     sync.Mutex
	recent recent
}

// take counts a request, or reports that there is no room for it.
func (c *ceiling) take(now time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent.opens(c.rate) > now {
		return false
	}
	c.recent.add(now, c.rate.N)
	c.opens.Store(int64(c.recent.opens(c.rate)))
	return true
}

func newLimiter(l *Ratelimit) *limiter {
	m := &limiter{identical: l.Identical, advertise: l.Advertise, began: time.Now(), seed: maphash.MakeSeed()}
	for _, limit := range l.limits() {
		m.limits = append(m.limits, bound{name: limit.String(), rate: limit, advice: adviceClient})
		m.keep, m.longest = max(m.keep, limit.N), max(m.longest, limit.Per)
	}
	if m.identical != nil {
		m.longest = max(m.longest, m.identical.Per)
	}
	if l.Ceiling != nil {
		m.ceiling = &ceiling{rate: *l.Ceiling}
	}
	return m
}

// bound is one limit as it stands for one request.
type bound struct {
	name   string
	rate   Rate
	recent *recent
	advice string // see refusal.detail
}

// now is how long the limiter has been at work, by the exchange's clock. That may run ahead of the one it began by, which
// tells all limits the same.
func (m *limiter) now(r *http.Request) time.Duration { return clock.From(r.Context()).Since(m.began) }

// judge counts a request, or returns its refusal.
func (m *limiter) judge(w http.ResponseWriter, r *http.Request) Fault {
	name, hash := m.origin(w, r)
	c := m.clients.get(name, m.now(r), m.longest)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := m.now(r)

	var same *recent
	bounds := make([]bound, 0, 8)
	if hash != 0 {
		same = c.payloads.get(hash, now, m.identical.Per)
		bounds = append(bounds, bound{"identical-payload", *m.identical, same, adviceIdentical})
	}
	for _, limit := range m.limits {
		limit.recent = &c.recent
		bounds = append(bounds, limit)
	}

	refused := m.decide(bounds, now)
	if refused == nil {
		c.recent.add(now, m.keep)
		if same != nil {
			same.add(now, m.identical.N)
		}
	}
	if m.advertise {
		advertise(w.Header(), bounds, now)
	}
	if refused == nil {
		return nil // not a Fault that holds nil
	}
	return refused.fault(now)
}

// decide finds the limits that a request is over; nil when there is none, and then the ceiling has counted it.
func (m *limiter) decide(bounds []bound, now time.Duration) *refusal {
	var over refusal
	for _, b := range bounds {
		if opens := b.recent.opens(b.rate); opens > now {
			over.add(b, opens)
		}
	}
	switch {
	case m.ceiling == nil:
	case over.violated != nil: // the wait must do for the ceiling too
		over.until = max(over.until, time.Duration(m.ceiling.opens.Load()))
	case !m.ceiling.take(now):
		over.add(bound{"all-clients", m.ceiling.rate, new(recent), adviceCeiling}, time.Duration(m.ceiling.opens.Load()))
	}
	if over.violated == nil {
		return nil
	}
	over.worst.recent.refused++
	return &over
}

// origin tells who sent a request, and the hash of its payload, 0 if that does not count.
func (m *limiter) origin(w http.ResponseWriter, r *http.Request) (name string, hash uint64) {
	o, ok := find[Origin](w)
	if !ok { // no server knows the client, nor has it read the body
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		return host, 0
	}
	body, known := o.Payload()
	if m.identical == nil || !known {
		return o.Client(), 0
	}
	type payload struct {
		method, path, query string
		body                uint64
	}
	return o.Client(), max(1, maphash.Comparable(m.seed, payload{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, body}))
}
