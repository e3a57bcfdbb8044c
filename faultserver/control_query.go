package faultserver

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// query holds what the parameters of a request say.
type query struct {
	filter filter
	reset  bool
	limit  int // 0: none
	follow bool

	requests      int           // 0: does not matter
	idle, timeout time.Duration // idle 0: does not matter
}

func newQuery() query { return query{timeout: defaultTimeout} }

const (
	defaultTimeout = 30 * time.Second
	longestTimeout = time.Hour
)

// parameter is one that a query may have.
type parameter struct {
	name, about string
	many        bool // any of several values will do
	schema      map[string]any
	set         func(c *Control, q *query, value string) error
}

var (
	pReset = &parameter{name: "reset", about: "start the run anew in the same step", schema: aBool,
		set: func(_ *Control, q *query, v string) error { return readBool(&q.reset, v) }}
	pLimit = &parameter{name: "limit", about: "at most so many, the first of those after since", schema: atLeast(1),
		set: func(_ *Control, q *query, v string) error { return readCount(&q.limit, v) }}
	pFollow = &parameter{name: "follow", about: "go on with each entry as it ends", schema: aBool,
		set: func(_ *Control, q *query, v string) error { return readBool(&q.follow, v) }}
	pRequests = &parameter{name: "requests", about: "until so many have come", schema: atLeast(1),
		set: func(_ *Control, q *query, v string) error { return readCount(&q.requests, v) }}
	pIdle = &parameter{name: "idle", about: "until none is going on, and none has come or ended for so long", schema: aDuration,
		set: func(_ *Control, q *query, v string) error { return readSpan(&q.idle, v) }}
	pTimeout = &parameter{name: "timeout", about: "give up after so long, 30s unless said, 1h at most", schema: aDuration,
		set: func(_ *Control, q *query, v string) error {
			err := readSpan(&q.timeout, v)
			if err == nil && q.timeout > longestTimeout {
				err = fmt.Errorf("%v is longer than %v; wait again when that has passed", q.timeout, longestTimeout)
			}
			return err
		}}
)

var (
	aBool     = map[string]any{"type": "boolean", "default": false}
	aText     = map[string]any{"type": "string", "minLength": 1}
	aDuration = map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`, "examples": []string{"1.5s", "2m"}}
)

func atLeast(least int) map[string]any { return map[string]any{"type": "integer", "minimum": least} }

// check finds what is wrong with parameters together.
func (q *query) check(o operation) []flaw {
	switch {
	case o.id == "wait" && q.requests == 0 && q.idle == 0:
		return []flaw{{Parameter: pRequests.name, Detail: "say what to wait for: requests=N, idle=2s, or both"}}
	case q.filter.from.set && q.filter.to.set && !q.filter.from.before(q.filter.to):
		return []flaw{{Parameter: pTo.name, Detail: "to is not after from, so no request is between them"}}
	}
	return nil
}

func readBool(into *bool, v string) error {
	switch v {
	case "true", "false":
		*into = v == "true"
		return nil
	}
	return fmt.Errorf("%q is neither true nor false", v)
}

func readCount(into *int, v string) error {
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no whole number from 1 on", v)
	}
	*into = int(n)
	return nil
}

func readSpan(into *time.Duration, v string) error {
	d, err := strict.ParseDuration(v)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%v is no time to wait; it takes more than 0s", d)
	}
	*into = d
	return err
}

func readWord(into *[]string, v string) error {
	if v == "" {
		return errors.New("it is empty; leave it out to take all")
	}
	*into = append(*into, v)
	return nil
}
