package contract

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// session judges one client: a look at it in front of a healthy server, then one run for each scenario. Every run happens
// once, whoever asks for it first.
type session struct {
	Request
	judged []assert.Judged
	opts   driver.Options
	ctx    context.Context
	stop   context.CancelFunc

	look *lazy[look] // the client in front of a healthy server
	runs []*run      // one a scenario, in order

	tried *paces // by a trial after the run had begun; nil: there was none

	bubbles sync.Mutex // one at a time
	burst   error      // why one did not come to its end; then no other is tried
	once    sync.Once
}

// run is one scenario: what happened and what the contract says of it.
type run struct {
	scenario scenarios.Scenario
	clauses  []assert.Judged // those of the contract that the scenario puts to the test
	out      *lazy[*outcome]
	seated   func()          // tells that its clients have their slots
	waits    <-chan struct{} // until seated is called
}

// outcome is what a run came to. err is set when nothing could be judged; the history may still hold something.
type outcome struct {
	*driver.Outcome
	calls   []assert.Call
	results map[string]assert.Result
	err     error

	speeds  []int              // that the scenario was run at; the outcome is of the last
	settled map[string]settled // verdicts that are certain, by clause, of this run and faster ones
	noisy   map[string]bool    // what only the machine's noise leaves open, by clause
	seen    glimpses           // of the scenario on slower clocks
	sharp   *outcome           // with the waits that these showed; nil: there are none
	early   *outcome           // of a glimpse in real time, with the verdicts that it alone decided; nil: there is none
}

func newSession(req Request) (*session, error) {
	req.fill()
	s := &session{Request: req, judged: req.Contract.Judges()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.opts = driver.Options{
		Clients: req.Clients, Seed: req.Seed, Upstream: req.Upstream, Progress: req.Progress, Memory: req.Memory, CA: req.CA,
		Enough: max(req.Contract.Requests()+1, driver.DefaultEnough),
		Slots:  driver.NewSlots(0), Polls: req.Contract.Poll.Every,
	}
	if !req.Memory { // there, each run has a canary of its own
		s.opts.Canary = driver.NewCanary()
	}
	s.opts.Limit = cmp.Or(req.Limit, max(driver.DefaultLimit, s.least()))
	s.look = newLazy(s.preflight)
	if req.Bubble != nil {
		s.look = newLazy(s.lookInBubble)
	}
	for _, sc := range Sized(req.Scenarios, req.Contract) {
		if sc.Limit > 0 {
			sc.Limit = cmp.Or(req.Limit, max(sc.Limit, s.least()+sc.Work.Lasts()))
		}
		if sc.Watch > 0 {
			sc.Watch = max(sc.Watch, watchedPolls*req.Contract.Poll.Every)
		}
		seated := make(chan struct{})
		r := &run{scenario: sc, waits: seated, seated: sync.OnceFunc(func() { close(seated) })}
		for _, id := range sc.Judges {
			if _, err := assert.Kinds.Get(id); err != nil {
				return nil, fmt.Errorf("scenario %s judges an %w", sc.Name, err)
			}
			if i := slices.IndexFunc(s.judged, func(j assert.Judged) bool { return j.Kind.ID == id }); i >= 0 {
				r.clauses = append(r.clauses, s.judged[i])
			}
		}
		r.out = newLazy(func() *outcome { return s.run(r) })
		if index := len(s.runs); req.Bubble != nil {
			r.out = newLazy(func() *outcome { return s.runInBubble(index) })
		}
		s.runs = append(s.runs, r)
	}
	return s, nil
}

// watchedPolls is for how many of its intervals a poller is watched in a scenario.
const watchedPolls = 30

// least is how long a client must be watched to see that it goes on after the contract's deadline, which is a late one.
func (s *session) least() time.Duration {
	within := s.Contract.Attempts.Within
	return within + within/10 + 2*time.Second
}

// look is what came of the preflight.
type look struct {
	*driver.Preflight
	paces
	slow  time.Duration // to allow for in each run
	first *beginning    // of the only scenario, in real time, beside the look; nil: none
	err   error
}

// preflight looks at the client in front of a healthy server, and sets the runs up for what it does there.
func (s *session) preflight() look {
	done := s.beside()
	seen, err := driver.Look(s.ctx, s.Client, s.opts)
	first := done(err == nil && seen.OneCall)
	if err != nil {
		return look{err: err}
	}
	if !seen.OneCall {
		s.opts.Enough = -1 // what comes again need not be a retry, so counting it settles nothing
	}
	for _, r := range seen.Requests {
		s.opts.StormLimit = max(s.opts.StormLimit, driver.DefaultStormLimit, 10*r.Count)
	}
	// A client that is slow by itself (a program that is compiled first) is slower still among others.
	slow := (3 * seen.Took).Truncate(time.Second)
	s.opts.Start = max(driver.DefaultStart, slow)
	if s.Limit == 0 {
		s.opts.Limit += slow
	}
	if !seen.OneCall && s.opts.Polls == 0 { // what polls makes no calls
		if err := s.calibrate(seen); err != nil {
			return look{err: err}
		}
	}
	p, err := s.pace()
	if err != nil {
		return look{err: err}
	}
	return look{Preflight: seen, paces: p, slow: slow, first: first}
}

// calibrate looks for the header that tells calls apart, of a client that asks for one thing more than once.
func (s *session) calibrate(seen *driver.Preflight) (err error) {
	s.opts.CallHeader, err = driver.Calibrate(s.ctx, s.Client, s.opts)
	if s.opts.CallHeader != "" {
		seen.Notes = append(seen.Notes, fmt.Sprintf("calls are told apart by %s: it stayed the same over the attempts of each call, and no two calls had the same",
			s.opts.CallHeader))
	}
	return err
}

// start runs all scenarios side by side, without waiting for them. Those that last queue for the slots first: what takes a
// minute in any case shall not begin when the others are done.
func (s *session) start() {
	var queue []*run
	for _, r := range s.runs {
		if len(r.clauses) > 0 {
			queue = append(queue, r)
		}
	}
	slices.SortStableFunc(queue, func(a, b *run) int { return cmp.Compare(b.lasts(), a.lasts()) })
	go func() {
		for _, r := range queue {
			select {
			case <-r.waits:
			case <-r.out.start():
			}
		}
	}()
}

// lasts is how long the scenario goes on with a client that does not end before, as far as it says so.
func (r *run) lasts() time.Duration {
	return max(r.scenario.Limit, r.scenario.Watch, r.scenario.Work.Lasts())
}

func (s *session) run(r *run) *outcome {
	look := s.look.get()
	if look.err != nil {
		return &outcome{err: look.err}
	}
	sc := r.scenario
	if s.needsWork(sc) {
		return r.idle(s)
	}
	if sc.Plan().NeedsTLS() && s.CA == nil {
		return r.plain()
	}
	if s.Limit == 0 && sc.Limit > 0 {
		sc.Limit += look.slow
	}
	sc.Work = sc.Work.Shared(healthyOf(look.Preflight).total)
	return s.hasten(sc, r, look)
}

// play runs a scenario once and judges what happened. watch, if set, gets the events as well.
func (s *session) play(sc scenarios.Scenario, r *run, look look, speed int, watch func(driver.Event)) *outcome {
	options := s.opts
	options.Speed, options.Seated = speed, r.seated
	if watch != nil {
		options.Progress = func(e driver.Event) {
			watch(e)
			if s.opts.Progress != nil {
				s.opts.Progress(e)
			}
		}
	}
	out, err := driver.Run(s.ctx, sc, s.Client, options)
	if err != nil {
		return &outcome{Outcome: out, err: err}
	}
	o := &outcome{Outcome: out, results: map[string]assert.Result{}, settled: map[string]settled{}}
	o.calls = s.calls(out, look)
	o.markEnds()
	o.judge(s.Contract, r)
	o.weigh(healthyOf(look.Preflight), s.Contract)
	return o
}

// calls groups what happened in a run.
func (s *session) calls(out *driver.Outcome, look look) []assert.Call {
	key := s.Contract.Key()
	key.OneCall, key.Run = look.OneCall && out.Scenario.Work.IsZero() && out.Scenario.Watch == 0, &out.Run
	return assert.Calls(out.History.Entries, key)
}

// markEnds gives calls a run of their own where their client did not end by itself: those of a client that was stopped could
// have gone on, and what follows when the caller has cancelled is judged.
func (o *outcome) markEnds() {
	latest := o.latestCalls()
	for i, c := range o.calls {
		for _, end := range o.Ends {
			if end.Client != c.Client || end.Stopped == "" && end.Cancelled == 0 {
				continue
			}
			own := o.Run
			own.Cancelled = end.Cancelled
			if end.Stopped != "" {
				own.Ended, own.Until = false, end.StoppedAt // silence after that is the harness's own
				own.Working = latest[c.Client] == i && end.Left == 0
			}
			o.calls[i].Run = &own
		}
	}
}

// latestCalls finds the call that each client sent its last request for.
func (o *outcome) latestCalls() map[string]int {
	latest := map[string]int{}
	last := func(i int) time.Duration {
		a := o.calls[i].Attempts
		return a[len(a)-1].At
	}
	for i, c := range o.calls {
		if k, ok := latest[c.Client]; !ok || last(i) > last(k) {
			latest[c.Client] = i
		}
	}
	return latest
}

// judge checks the run's clauses. A scenario whose fault never acted has put nothing to the test.
func (o *outcome) judge(c *assert.Contract, r *run) {
	fired := uint64(0)
	for _, n := range o.Fired {
		fired += n
	}
	for _, res := range assert.Judge(c, r.ids(), o.calls) {
		if fired == 0 {
			res = assert.Result{Clause: res.Clause, Detail: "no request met the scenario's fault, so nothing was put to the test"}
		}
		o.results[res.Clause] = res
	}
}

func (r *run) ids() []string {
	ids := make([]string, len(r.clauses))
	for i, j := range r.clauses {
		ids[i] = j.Kind.ID
	}
	return ids
}
