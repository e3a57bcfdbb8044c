package playbook

import (
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// stream is what one client sent to one endpoint.
type stream struct {
	client string
	endpoint

	requests, failures int
	statuses           []count
	first, last        time.Duration
	pace               sample // from arrival to arrival

	runs map[payload]*run
	key  payload // of latest
	cur  *run    // the run of key, nil if there is none

	repeats, redundant int // failed requests that came again; of these, those that should not have
	exact              int // of the repeats, those that carry the id of what they repeat
	loops              int // runs that went beyond all bounds
	worst              int // redundant requests of the longest run
	gaps               sample
	known, distinct    int // failures whose payload the log tells something of, and how many payloads they had

	minute minute
	peak   int // requests in the busiest minute
	calm   int // requests in the busiest of the minutes in which most requests succeeded
	storm  storm

	evidence []journal.Entry
	alerts   []alarm
}

type count struct{ status, n int }

// minute counts the minute under way.
type minute struct {
	index                         time.Duration
	requests, failures, redundant int
}

// storm is the time in which redundant requests came.
type storm struct {
	from, to time.Duration
	minutes  int // in which any came
	peak     int // in the worst of them
}

// payload is what has to be alike in a repeat.
type payload struct {
	path, query, id string
	body            uint64
}

// run is a failed request and its repeats.
type run struct {
	end        time.Duration // of the last attempt
	longest    time.Duration // wait
	first      time.Duration
	attempts   int
	redundant  int
	forbidden  bool // every attempt was answered in a way that forbids another
	behaviour  assert.Behaviour
	asked      time.Duration // by the Retry-After of the last attempt
	minute     time.Duration
	inMinute   int // redundant ones
	looping    bool
	identified bool
}

func newStream(client string, where endpoint, alerts []assert.Rate) *stream {
	s := &stream{client: client, endpoint: where, first: -1}
	for _, limit := range alerts {
		s.alerts = append(s.alerts, alarm{limit: limit})
	}
	return s
}

func (s *stream) add(v *Investigation, e *journal.Entry) {
	if s.first < 0 {
		s.first = e.At
	} else {
		s.pace.add(e.At - s.last)
	}
	s.last = e.At
	s.requests++
	s.status(statusOf(e))
	s.clock(e.At)
	s.minute.requests++
	for i := range s.alerts {
		s.alerts[i].add(e.At)
	}
	bad := failed(e)
	key := payloadOf(e)
	r := s.runOf(key)
	switch {
	case r == nil:
	case e.At-r.end > r.horizon():
		delete(s.runs, key)
		r, s.cur = nil, nil
	case e.At-r.end >= -overlap:
		s.repeat(v, r, key, e)
	case bad: // sent beside it, and no repeat
		s.failures++
		s.minute.failures++
		return
	}
	if !bad {
		if s.cur != nil && s.key == key {
			delete(s.runs, key)
			s.cur = nil
		}
		if len(s.evidence) > 0 && s.redundant == 0 {
			v.samples -= len(s.evidence)
			s.evidence = s.evidence[:0]
		}
		return
	}
	s.failures++
	s.minute.failures++
	if r == nil {
		r = s.open(key, e)
	}
	if known(e) {
		s.known++
		if r.attempts == 0 {
			s.distinct++
		}
	}
	r.attempts++
	r.end = e.End()
	r.behaviour = v.rules.table.For(*e)
	r.forbidden = r.forbidden && allowed(r.behaviour, 0) <= 1
	r.asked = 0
	if e.RetryAfter != "" {
		if asked, ok := assert.Asked(*e, time.Time{}); ok && asked > 0 {
			r.asked = asked
		}
	}
	s.keep(v, e)
}

// statusOf is the status for the shares: 0 where no answer came.
func statusOf(e *journal.Entry) int {
	if e.Gone > 0 {
		return 0
	}
	return e.Status
}

func (s *stream) status(code int) {
	for i := range s.statuses {
		if s.statuses[i].status == code {
			s.statuses[i].n++
			return
		}
	}
	s.statuses = append(s.statuses, count{code, 1})
}

// clock closes the minute that is over.
func (s *stream) clock(at time.Duration) {
	index := at / time.Minute
	if index == s.minute.index {
		return
	}
	m := s.minute
	s.peak = max(s.peak, m.requests)
	if 2*m.failures < m.requests {
		s.calm = max(s.calm, m.requests)
	}
	if m.redundant > 0 {
		s.storm.minutes++
		s.storm.peak = max(s.storm.peak, m.redundant)
	}
	s.minute = minute{index: index}
}

// runOf finds the failed request that key repeats.
func (s *stream) runOf(key payload) *run {
	if s.cur == nil || s.key != key {
		s.key, s.cur = key, s.runs[key]
	}
	return s.cur
}

// overlap is how long before the end of an attempt its retry may seem to arrive.
const overlap = 2 * time.Millisecond

// repeat counts e as a repeat of the run.
func (s *stream) repeat(v *Investigation, r *run, key payload, e *journal.Entry) {
	gap := max(0, e.At-r.end)
	s.repeats++
	s.gaps.add(gap)
	if key.id != "" {
		s.exact++
	}
	r.longest = max(r.longest, gap)
	if r.attempts > allowed(r.behaviour, v.rules.attempts) && (r.asked == 0 || gap < r.asked-assert.Early(r.asked)) {
		s.redundantOne(v, r, e)
	}
}

const unbounded = 1 << 30

// allowed is how many attempts may have been made when another follows an answer with this behaviour.
func allowed(b assert.Behaviour, most int) int {
	switch b {
	case assert.Never:
		return 0
	case assert.Once, assert.OnceAfterRefresh:
		return 1
	default:
		if most == 0 {
			return unbounded
		}
		return most - 1
	}
}

// redundantOne counts a repeat that should not have come.
func (s *stream) redundantOne(v *Investigation, r *run, e *journal.Entry) {
	if s.redundant == 0 {
		s.storm.from = r.first
	}
	s.redundant++
	s.storm.to = e.At
	s.minute.redundant++
	r.redundant++
	s.worst = max(s.worst, r.redundant)
	if at := e.At / time.Minute; at != r.minute {
		r.minute, r.inMinute = at, 0
	}
	r.inMinute++
	if !r.looping && v.rules.beyond(s, r) {
		r.looping = true
		if s.loops == 0 {
			s.storm.from = r.first
		}
		s.loops++
	}
}

// How long after a failure a request may still repeat it: as assert groups requests into calls.
const (
	firstHorizon = time.Minute
	laterHorizon = 5 * time.Second
	neverHorizon = 10 * time.Second
	horizonScale = 8
)

func (r *run) horizon() time.Duration {
	h := firstHorizon
	switch {
	case r.attempts > 1:
		h = max(laterHorizon, horizonScale*r.longest)
	case r.behaviour == assert.Never:
		h = neverHorizon
	}
	return max(h, r.asked+r.asked/2)
}

// mostRuns bounds the failed requests that are waited for; those that nothing can repeat any more go first.
const mostRuns = 1024

func (s *stream) open(key payload, e *journal.Entry) *run {
	if len(s.runs) >= mostRuns {
		for k, r := range s.runs {
			if e.At-r.end > r.horizon() {
				delete(s.runs, k)
			}
		}
		if len(s.runs) >= mostRuns {
			clear(s.runs)
		}
	}
	r := &run{first: e.At, forbidden: true, identified: identified(e, key), minute: -1}
	if s.runs == nil {
		s.runs = map[payload]*run{}
	}
	s.runs[key] = r
	s.key, s.cur = key, r
	return r
}

// known reports whether the log tells anything of what was sent.
func known(e *journal.Entry) bool {
	return e.BodySum != 0 || e.BodyLen > 0 || e.Key != "" || e.Call != "" || !hasBody(e.Method)
}

// Evidence is a stretch without holes: what came last before anyone could tell, and what followed.
const (
	evidenceBefore = 48
	evidenceAll    = 160
	evidenceTotal  = 200_000 // of all clients together
)

// keep keeps a failed request as evidence.
func (s *stream) keep(v *Investigation, e *journal.Entry) {
	switch n := len(s.evidence); {
	case n == evidenceAll:
		return
	case s.loops == 0 && n == evidenceBefore: // the older half goes
		s.evidence = s.evidence[:copy(s.evidence, s.evidence[evidenceBefore/2:])]
		v.samples -= evidenceBefore / 2
	case s.loops == 0 && v.samples >= evidenceTotal:
		return
	}
	s.evidence = append(s.evidence, *e)
	v.samples++
}

func payloadOf(e *journal.Entry) payload {
	p := payload{path: e.Path, query: e.Query, id: e.Call, body: e.BodySum}
	if p.id == "" {
		p.id = e.Key
	}
	if !e.BodyWhole {
		p.body = uint64(e.BodyLen)
	}
	return p
}

// identified reports whether equal requests are the same request and not only like it: by an id, or by the body of one that
// has a body. Lengths do not suffice, nor does what a path names: positions are all of one length, and put to one place.
func identified(e *journal.Entry, key payload) bool {
	return key.id != "" || hasBody(e.Method) && e.BodySum != 0
}

func hasBody(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "":
		return false
	default:
		return true
	}
}

// failed is assert.Failed without the copy.
func failed(e *journal.Entry) bool {
	return !e.Open && (e.Status == 0 || e.Cut || e.Gone > 0 && e.Status < 300 || e.Status >= 400)
}
