package faultserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// reached is how far a wait has got. It speaks of the requests that the filter takes.
type reached struct {
	Requests int           `json:"requests" doc:"how many came"`
	InFlight int           `json:"in_flight" doc:"how many of them are still going on"`
	Quiet    time.Duration `json:"quiet_ns" doc:"how long none has come or ended, in nanoseconds; 0 while one is going on"`
	Elapsed  time.Duration `json:"elapsed_ns" doc:"how long the run has lasted, in nanoseconds"`
}

// wait answers when what it waits for is there, or its time is up.
func (c *Control) wait(a *ask) (any, error) {
	j, q := c.server.journal, &a.query
	up := time.NewTimer(q.timeout)
	defer up.Stop()
	v := vigil{cursor: j.Cursor(q.filter.since), filter: &q.filter}
	for {
		changed := j.Changed()
		now := v.look()
		left, met := q.met(now)
		if met {
			return now, nil
		}
		quiet := time.NewTimer(left)
		select {
		case <-a.r.Context().Done():
			quiet.Stop()
			return nil, refuse(http.StatusServiceUnavailable, "the server is closing")
		case <-up.C:
			quiet.Stop()
			return q.end(v.look())
		case <-quiet.C:
		case <-changed:
			quiet.Stop()
			time.Sleep(gather)
		}
	}
}

// end is the answer when the time is up.
func (q *query) end(now reached) (any, error) {
	if _, met := q.met(now); met {
		return now, nil
	}
	e := refuse(http.StatusConflict, "%v went by and %s", q.timeout, q.missing(now))
	e.Reached = &now
	return nil, e
}

// met reports whether enough came and it is quiet, and otherwise after how long that may be so if nothing happens.
func (q *query) met(now reached) (left time.Duration, met bool) {
	switch {
	case now.Requests < q.requests || q.idle > 0 && now.InFlight > 0:
		return q.timeout, false
	case now.Quiet < q.idle:
		return q.idle - now.Quiet, false
	}
	return 0, true
}

// missing says what was not met.
func (q *query) missing(now reached) string {
	switch {
	case now.Requests < q.requests:
		return fmt.Sprintf("%d of %d requests came", now.Requests, q.requests)
	case now.InFlight > 0:
		return fmt.Sprintf("requests are still going on: %d", now.InFlight)
	}
	return fmt.Sprintf("it was quiet for %v, not for %v", now.Quiet, q.idle)
}

// vigil counts the requests that a filter takes, as they come and end.
type vigil struct {
	cursor *journal.Cursor
	filter *filter

	ended, open int
	last        time.Duration // when one came or ended
}

func (v *vigil) look() reached {
	entries, anew := v.cursor.Next()
	if anew {
		v.ended, v.last, v.filter.since = 0, 0, 0 // numbers begin again too
	}
	v.open = 0
	for i := range entries {
		e := &entries[i]
		if !v.filter.takes(e, v.cursor.Began()) {
			continue
		}
		v.last = max(v.last, e.At)
		if e.Open {
			v.open++
			continue
		}
		v.ended++
		v.last = max(v.last, e.At+e.Took, e.Gone)
	}
	now := reached{Requests: v.ended + v.open, InFlight: v.open, Elapsed: v.cursor.Elapsed()}
	if v.open == 0 {
		now.Quiet = max(0, now.Elapsed-v.last)
	}
	return now
}
