package cli

import (
	"fmt"
	"time"
)

// row is one scenario on the board.
type row struct {
	name           string
	clients, ended int
	requests       map[string]int // by client
	began, done    time.Time
}

func newRow(name string, clients int) *row {
	return &row{name: name, clients: clients, requests: map[string]int{}}
}

func (r *row) running() bool { return !r.began.IsZero() && r.done.IsZero() }

func (r *row) total() (requests int) {
	for _, n := range r.requests {
		requests += n
	}
	return requests
}

func (r *row) tally(d time.Duration) string {
	ended := fmt.Sprintf("%d of %d", r.ended, r.clients)
	return fmt.Sprintf("%10s clients ended %6d requests %6.1f s", ended, r.total(), d.Seconds())
}
