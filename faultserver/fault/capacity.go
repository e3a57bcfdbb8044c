package fault

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "capacity",
		Summary: "serves so many requests a second in order of arrival; the others queue, and a full queue answers 503",
		Example: "{capacity: {rate: 40, queue: 20}}",
		New:     func() Fault { return &Capacity{} },
	})
}

// Capacity is a server that takes time for what it does: workers that serve one request each, and a queue before them. A
// request is answered by next when a worker is done with it. Clients that leave are served all the same, as servers do that
// do not notice: this is what lets a short outage grow into a storm that outlasts it.
type Capacity struct {
	// Rate is how many requests all workers serve in a second, Service how long one takes for a request. At most one is
	// set; with none, the rate is 10.
	Rate    float64       `yaml:"rate" doc:"requests that all workers serve in a second"`
	Service time.Duration `yaml:"service" doc:"how long a worker takes for a request, in place of rate"`
	Workers int           `yaml:"workers" doc:"default 1"`

	Queue      *int        `yaml:"queue" doc:"how many may wait for a worker; more are answered 503; default any number"`
	DropStale  bool        `yaml:"drop-stale" doc:"workers pass over requests whose clients left while they waited"`
	RetryAfter *RetryAfter `yaml:"retry-after" doc:"goes with the 503; default none"`

	once  sync.Once
	queue *queue
}

// Fresh returns the same capacity, with nothing to do.
func (c *Capacity) Fresh() Fault {
	return &Capacity{
		Rate: c.Rate, Service: c.Service, Workers: c.Workers, Queue: c.Queue, DropStale: c.DropStale, RetryAfter: c.RetryAfter,
	}
}

// Crowded says that it is the crowd that fills the queue.
func (*Capacity) Crowded() {}

// Inject lets the request wait for its turn and for as long as it takes, then lets next answer.
func (c *Capacity) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	c.once.Do(func() { c.queue = newQueue(c, clock.From(r.Context())) })
	p, ok := c.queue.join()
	switch {
	case !ok:
		c.refuse(w, r)
	case c.queue.serve(r.Context(), p):
		next.ServeHTTP(w, r)
	default:
		abort()
	}
}

func (c *Capacity) refuse(w http.ResponseWriter, r *http.Request) {
	full := Problem{Detail: fmt.Sprintf("The server is busy, and its queue of %d is full. Try again later, and less often.", *c.Queue)}
	(&Status{Code: http.StatusServiceUnavailable, RetryAfter: c.RetryAfter, Problem: &full}).Inject(w, r, nil)
}

const maxWorkers = 1000

// workers is their number.
func (c *Capacity) workers() int { return max(1, c.Workers) }

// service is how long a worker takes for a request.
func (c *Capacity) service() time.Duration {
	if c.Service > 0 {
		return c.Service
	}
	rate := c.Rate
	if rate == 0 {
		rate = 10
	}
	return duration(float64(c.workers()) / rate * float64(time.Second))
}

// Validate wants one measure of time, and a queue that can be full where something is said about that.
func (c *Capacity) Validate(n strict.Node) {
	switch strict.ExactlyOne(n, "rate", "service") {
	case "rate":
		strict.Between(n, "rate", c.Rate, 0.001, 1e6)
	case "service":
		strict.Above(n, "service", c.Service, 0)
	}
	if _, ok := n.Field("workers"); ok {
		strict.Between(n, "workers", c.Workers, 1, maxWorkers)
	}
	if c.Queue != nil {
		strict.AtLeast(n, "queue", *c.Queue, 0)
	}
	if c.RetryAfter != nil && c.Queue == nil {
		n.At("retry-after").Fail("retry-after goes with the 503 of a full queue, but without queue there is no such thing")
	}
}
