package faultserver

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// filter says which entries of the journal are meant: those that satisfy every part that is set, each with one of its
// values.
type filter struct {
	clients, paths, prefixes, methods, faults, rules []string
	statuses                                         []statusRange
	since                                            uint64
	from, to                                         moment
}

var (
	pClient = &parameter{name: "client", about: "sent by this client", many: true, schema: aText,
		set: func(_ *Control, q *query, v string) error { return readWord(&q.filter.clients, v) }}
	pPath = &parameter{name: "path", about: "with exactly this path, as the client wrote it", many: true, schema: aText,
		set: func(_ *Control, q *query, v string) error { return readWord(&q.filter.paths, v) }}
	pPathPrefix = &parameter{name: "path-prefix", about: "with a path that begins so", many: true, schema: aText,
		set: func(_ *Control, q *query, v string) error { return readWord(&q.filter.prefixes, v) }}
	pMethod = &parameter{name: "method", about: "with this method", many: true, schema: aText,
		set: func(_ *Control, q *query, v string) error { return readWord(&q.filter.methods, v) }}
	pStatus = &parameter{name: "status", about: "answered with this status, with one of a class such as 5xx, or with none", many: true,
		schema: map[string]any{"type": "string", "pattern": statusForm.String()},
		set:    func(_ *Control, q *query, v string) error { return q.filter.status(v) }}
	pFault = &parameter{name: "fault", about: "met by this kind of fault, alone or with others", many: true, schema: aText,
		set: func(c *Control, q *query, v string) error { return q.filter.fault(c, v) }}
	pRule = &parameter{name: "rule", about: "met by the fault of this rule", many: true, schema: aText,
		set: func(_ *Control, q *query, v string) error { return readWord(&q.filter.rules, v) }}
	pSince = &parameter{name: "since", about: "after the entry with this seq", schema: atLeast(0),
		set: func(_ *Control, q *query, v string) (err error) {
			if q.filter.since, err = strconv.ParseUint(v, 10, 64); err != nil {
				return fmt.Errorf("%q is no seq, a whole number from 0 on", v)
			}
			return nil
		}}
	pFrom = &parameter{name: "from", about: "come at this time or later: so long after the run began, or a date as in RFC 3339", schema: aText,
		set: func(_ *Control, q *query, v string) error { return q.filter.from.read(v) }}
	pTo = &parameter{name: "to", about: "come before this time", schema: aText,
		set: func(_ *Control, q *query, v string) error { return q.filter.to.read(v) }}
)

// takes reports whether an entry is meant; began is when its run did.
func (f *filter) takes(e *journal.Entry, began time.Time) bool {
	return f.ofClient(e) && e.Seq > f.since &&
		oneOf(f.paths, e.Path) &&
		(f.prefixes == nil || slices.ContainsFunc(f.prefixes, func(p string) bool { return strings.HasPrefix(e.Path, p) })) &&
		(f.methods == nil || slices.ContainsFunc(f.methods, func(m string) bool { return strings.EqualFold(m, e.Method) })) &&
		(f.statuses == nil || slices.ContainsFunc(f.statuses, func(s statusRange) bool { return s.holds(e) })) &&
		(f.faults == nil || slices.ContainsFunc(f.faults, func(name string) bool { return hasFault(e, name) })) &&
		oneOf(f.rules, e.Rule) &&
		(!f.from.set || e.At >= f.from.in(began)) && (!f.to.set || e.At < f.to.in(began))
}

// ofClient is the one part that keeps or leaves out whole calls.
func (f *filter) ofClient(e *journal.Entry) bool { return oneOf(f.clients, e.Client) }

// oneOf reports whether s is wanted; no wishes want all.
func oneOf(wanted []string, s string) bool { return wanted == nil || slices.Contains(wanted, s) }

func hasFault(e *journal.Entry, name string) bool {
	return e.Fault == name || slices.Contains(strings.Split(e.Fault, "+"), name)
}

// fault takes the name of a kind, or of whatever acts in the plan.
func (f *filter) fault(c *Control, v string) error {
	v = strings.ReplaceAll(v, " ", "+") // what a + in a query stands for
	known := fault.Kinds.Names()
	for _, r := range c.server.program.Load().rules {
		for _, spec := range r.faults {
			known = append(known, spec.Name())
		}
	}
	for part := range strings.SplitSeq(v, "+") {
		if !slices.Contains(known, v) && !slices.Contains(known, part) {
			return fmt.Errorf("unknown fault %q%s", part, registry.Suggest(part, fault.Kinds.Names()))
		}
	}
	return readWord(&f.faults, v)
}

// statusRange is a run of statuses; the zero one is no status at all.
type statusRange struct{ least, most int }

var statusForm = regexp.MustCompile(`^([1-9][0-9]{2}|[1-9]xx|none)$`)

func (f *filter) status(v string) error {
	if !statusForm.MatchString(v) {
		return fmt.Errorf("%q is no status; write one such as 503, a class such as 5xx, or none", v)
	}
	var s statusRange
	if v != "none" {
		s.least, _ = strconv.Atoi(strings.ReplaceAll(v, "xx", "00")) // the form leaves nothing else
		s.most, _ = strconv.Atoi(strings.ReplaceAll(v, "xx", "99"))
	}
	f.statuses = append(f.statuses, s)
	return nil
}

// holds reports whether the entry was answered so. That no status was sent is known when it has ended.
func (s statusRange) holds(e *journal.Entry) bool {
	return e.Status >= s.least && e.Status <= s.most && (e.Status > 0 || !e.Open)
}

// moment is a time of the run, or of the day.
type moment struct {
	set   bool
	after time.Duration // since the run began
	date  time.Time     // in its place, if not zero
}

func (m *moment) read(v string) error {
	m.set = true
	date, err := time.Parse(time.RFC3339, strings.ReplaceAll(v, " ", "+")) // what a + in a query stands for
	if err == nil {
		m.date = date
		return nil
	}
	if m.after, err = strict.ParseDuration(v); err != nil {
		return fmt.Errorf("%q is no time; write how long after the run began, as in 1.5s, or a date, as in 2006-01-02T15:04:05Z", v)
	}
	if m.after < 0 {
		return fmt.Errorf("%v is before the run began", m.after)
	}
	return nil
}

// in gives the time within a run.
func (m *moment) in(began time.Time) time.Duration {
	if m.date.IsZero() {
		return m.after
	}
	return m.date.Sub(began)
}

// before reports whether the other is later, as far as that can be told without knowing when the run began.
func (m *moment) before(other moment) bool {
	if m.date.IsZero() != other.date.IsZero() {
		return true
	}
	return m.date.Before(other.date) || m.after < other.after
}
