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
	again          bool // it is the second run
}

func newRow(name string, clients int) *row {
	return &row{name: name, clients: clients, requests: map[string]int{}}
}

// restart begins the first run of the scenario, or another one.
func (r *row) restart() {
	r.again = !r.began.IsZero()
	r.began, r.done, r.ended = time.Now(), time.Time{}, 0
	clear(r.requests)
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
	of := "clients ended"
	if r.again {
		of = "in second run"
	}
	return fmt.Sprintf("%10s %s %6d requests %6.1f s", ended, of, r.total(), d.Seconds())
}
