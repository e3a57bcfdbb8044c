package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/memnet"
	"github.com/retrygate/retrygate/scenarios"
)

// settleTime is how long exchanges may take to notice that their client is gone.
const settleTime = time.Second

// hearTime is how long a server may take to notice that a client left in the middle of a handshake.
const hearTime = 200 * time.Millisecond

// Run puts client through one scenario: a server of its own, an address for each of the clients, all of them side by side,
// watched and stopped where they would go on for ever. It returns when all have ended. The error says why there is nothing
// to judge: the plan or the client cannot be started, or ctx has ended; once clients were started, the outcome holds what
// came of them until then.
func Run(ctx context.Context, s scenarios.Scenario, client Client, o Options) (*Outcome, error) {
	o = o.defaults(s)
	if err := Check(client); err != nil {
		return nil, err
	}
	if !s.Work.IsZero() && !Works(client) {
		return nil, fmt.Errorf("scenario %s wants a client that keeps working, and %s ends after one call", s.Name, client.Name())
	}
	r := &run{scenario: s, client: client}
	if err := r.hasten(o); err != nil {
		return nil, err
	}
	var err error
	processes := o.Clients
	if c, ok := client.(*command); ok && c.shared && s.Cancel == nil { // who cancels a call ends its process
		r.crew, processes = newCrew(c.argv), 1
	}
	if r.seats, err = o.Slots.acquire(ctx, processes, o.Clients); err != nil {
		return nil, err
	}
	defer r.seats.release()
	o.Seated()
	if !o.blind {
		if o.Canary == nil {
			o.Canary = NewCanary()
			o.Canary.memory = o.Memory
		}
		leave, err := o.Canary.join()
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	r.options = o
	if err := r.open(); err != nil {
		return nil, err
	}
	defer func() { _ = r.close() }() // the journal is safe by then
	r.start(ctx)
	r.follow()
	r.dismiss(ctx)
	if err := r.failed(ctx); err != nil {
		return &Outcome{Scenario: r.scenario, History: r.server.Journal().History(), Ends: r.ends}, err
	}
	return r.outcome(ctx), nil
}

// run is one scenario while it runs.
type run struct {
	scenario scenarios.Scenario
	client   Client
	options  Options
	seats    *seats

	faketime string      // library that makes the client's clock run faster
	clock    clock.Clock // of server and client

	server  *faultserver.Server
	network memnet.Network // for Options.Memory
	trust   *trust         // for Options.CA
	crew    *crew          // makes the calls of all clients, if these share a process
	ports   []port         // of the clients that do
	log     tail           // what the server complains about
	targets []Target
	watch   watch
	began   time.Time
	ends    []End
	shifts  []*shift      // of each client where the scenario wants work
	ended   chan int      // clients that have ended, by index
	left    chan leftover // of commands that have ended
	over    chan struct{} // closed when all clients have ended
}

// hasten finds what makes the client's clock run faster, if it is to.
func (r *run) hasten(o Options) (err error) {
	if o.Speed <= 1 {
		return nil
	}
	if _, ok := r.client.(*command); !ok || o.Memory {
		return errors.New("only the clock of a command can run faster; a Go function can run in virtual time (see Options.Memory)")
	}
	r.faketime, err = Faketime()
	return err
}

// keeps is for what part of the time that a client took to start it keeps its turn: on a clock that runs faster what it still
// loads is a large part of a wait, and where its first waits are what is looked at, a part that counts.
func (r *run) keeps() float64 {
	switch {
	case r.clock.Speed() > 1:
		return 1
	case r.options.FromFirst:
		return 0.25
	}
	return 0
}

// start starts all clients together.
func (r *run) start(ctx context.Context) {
	r.began = r.clock.Now()
	r.ends = make([]End, len(r.targets))
	r.shifts = make([]*shift, len(r.targets))
	r.ended = make(chan int, len(r.targets))
	r.left, r.over = make(chan leftover), make(chan struct{})
	r.watch = watch{
		options: &r.options, journal: r.server.Journal(), clock: r.clock, clients: map[string]*watched{}, tell: r.tell,
		disconnect: func(client string) { r.note(r.server.Disconnect(client)) },
	}
	turn := func(ctx context.Context) (func() error, func(), func()) {
		return r.options.Slots.turn(ctx, r.options.Start, r.keeps())
	}
	if r.crew != nil {
		turn = r.shared(ctx)
	}
	for i, t := range r.targets {
		ctx, stop := context.WithCancelCause(ctx)
		w := &watched{name: t.Client(), clock: r.clock, stop: stop, started: func() {}, loaded: func() {}, routes: map[string]int{}}
		if c := r.scenario.Cancel; c != nil {
			cancel := make(chan struct{})
			w.cancelAfter, w.cancel, t.cancel = c.After, sync.OnceFunc(func() { close(cancel) }), cancel
		}
		begin := func() error { return nil }
		if !r.options.Memory {
			begin, w.started, w.loaded = turn(ctx)
		}
		seen, next := make(chan struct{}), w.started
		see := sync.OnceFunc(func() { close(seen) })
		w.started = func() { see(); next() }
		r.watch.clients[t.Client()] = w
		go func() {
			defer stop(nil)
			defer w.loaded()
			if err := begin(); err != nil {
				r.ends[i] = End{Client: t.Client(), URL: t.URL, Exit: Exit{Code: -1, Err: err}}
			} else {
				r.ends[i] = r.run(ctx, t, seen)
				r.hear(t.Client())
			}
			r.seats.leave()
			r.ended <- i
		}()
	}
}

// run runs one client to its end.
func (r *run) run(ctx context.Context, t Target, seen <-chan struct{}) End {
	began := r.clock.Now()
	ctx, free := r.limit(ctx, seen)
	defer free()
	r.tell(Event{Client: t.Client(), Kind: Started})
	var left atomic.Int64
	t.left = func(n int) {
		left.Store(int64(n))
		select {
		case r.left <- leftover{t.Client(), n}:
		case <-r.over: // a client that could not be ended
		}
	}
	var cancelled atomic.Int64
	t.cancelled = func() { cancelled.Store(int64(r.server.Journal().Elapsed())) }
	exit, output := r.put(ctx, t)
	end := End{Client: t.Client(), URL: t.URL, Exit: exit, Took: r.clock.Since(began), Output: output, shared: r.crew != nil}
	end.Cancelled = time.Duration(cancelled.Load())
	var why *stopped
	if !errors.As(context.Cause(ctx), &why) && exit.lost != "" && len(r.targets) > 1 {
		why = r.cutOff(exit)
	}
	if why != nil {
		if r.crew != nil { // where the call may go on
			r.note(r.server.Disconnect(t.Client()))
		}
		end.Left = int(left.Load())
		end.Stopped, end.StoppedAt = why.tell(exit, end.Left), why.at
		end.idle = why.why == "" && end.Left > 0
		end.watched = why.watched
	}
	return end
}

// put makes the client do its work: one call, or those of the scenario.
func (r *run) put(ctx context.Context, t Target) (Exit, Output) {
	w, ok := r.client.(worker)
	switch {
	case r.scenario.Work.IsZero() && r.crew != nil:
		return r.crew.work(ctx, t, oneCall(t))
	case r.scenario.Work.IsZero() || !ok:
		return runClient(ctx, r.client, t)
	}
	s := newShift(r.scenario.Work, t.Client(), r.began, t.Number-1, len(r.targets))
	s.elapsed = r.server.Journal().Elapsed
	r.shifts[t.Number-1] = s
	if r.crew != nil {
		return r.crew.work(ctx, t, s)
	}
	return w.work(ctx, t, s)
}

// limit ends a client's context when it has had its time. On a clock that runs faster, or if the options say so, that begins
// with its first request: to start takes a program as long as ever, and would use up the time.
func (r *run) limit(ctx context.Context, seen <-chan struct{}) (limited context.Context, free context.CancelFunc) {
	most, text := r.options.Limit, "did not end within %g s and was stopped"
	if r.crew != nil {
		text = "did not end within %g s, or its worker did not say so, and was stopped"
	}
	if r.scenario.Watch > 0 {
		most, text = r.scenario.Watch, "was watched for %g s, which is what the scenario wants, and stopped"
	}
	end := func(already time.Duration) *stopped {
		return &stopped{
			why:     fmt.Sprintf(text, most.Seconds()),
			left:    fmt.Sprintf("after %g s", most.Seconds()),
			at:      r.server.Journal().Elapsed() + already,
			watched: r.scenario.Watch > 0,
		}
	}
	if r.clock.Speed() == 1 && !r.options.FromFirst {
		return context.WithTimeoutCause(ctx, most, end(most))
	}
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		timer := time.NewTimer(r.options.Start)
		defer timer.Stop()
		select {
		case <-seen:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		timer.Reset(r.clock.Real(most))
		select {
		case <-timer.C:
			stop(end(0))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { stop(nil) }
}

// leftover is how many processes a client's command, which has ended, left running.
type leftover struct {
	client string
	n      int
}

// follow watches the clients until all have ended.
func (r *run) follow() {
	defer close(r.over)
	for running := len(r.targets); running > 0; {
		changed := r.server.Journal().Changed()
		timer := r.clock.NewTimer(r.watch.look(r.clock.Now()))
		select {
		case i := <-r.ended:
			running--
			r.end(i)
		case l := <-r.left:
			r.watch.clients[l.client].leave(l.n, r.server.Journal().Elapsed())
		case <-timer.C:
		case <-changed:
			if !r.options.Memory { // there, time may stand still while requests rush in
				time.Sleep(lookEvery) // requests that rush in are looked at together
			}
		}
		timer.Stop()
	}
}

// end notes that a client has ended, with the requests that were seen of it until then.
func (r *run) end(i int) {
	r.watch.look(r.clock.Now())
	c := r.watch.clients[r.ends[i].Client]
	c.over = true
	e := &r.ends[i]
	e.Requests, e.Silent = c.requests, c.requests == 0
	e.Message = e.message()
	r.tell(Event{Client: c.name, Kind: Ended, Requests: c.requests, Text: e.String()})
}

// note keeps an error for the reader of the verdict.
func (r *run) note(err error) {
	if err != nil {
		fmt.Fprintln(&r.log, err)
	}
}

func (r *run) tell(e Event) {
	e.Scenario = r.scenario.Name
	r.options.Progress(e)
}

// failed returns why there is nothing to judge.
func (r *run) failed(ctx context.Context) error {
	for _, e := range r.ends {
		var s *StartError
		if errors.As(e.Exit.Err, &s) {
			return s
		}
	}
	return context.Cause(ctx)
}

// outcome collects everything, once the exchanges have noticed that nobody is there any more.
func (r *run) outcome(ctx context.Context) *Outcome {
	j := r.server.Journal()
	settle(j, settleTime)
	o := &Outcome{
		Scenario: r.scenario, History: j.History(), Ends: r.ends, Took: r.clock.Since(r.began), Fired: r.server.Fired(),
	}
	o.Run = assert.Run{Name: r.scenario.Name, Began: o.History.Began, Lost: o.History.Lost, Until: o.History.Until, Ended: true}
	for _, e := range r.ends {
		o.Run.Ended = o.Run.Ended && !e.Exit.Alive
	}
	for i, s := range r.shifts {
		if s != nil {
			if o.Run.Given == nil {
				o.Run.Given = map[string][]time.Duration{}
			}
			o.Run.Given[r.targets[i].Client()] = s.times()
		}
	}
	o.reopen()
	if !r.options.blind {
		o.Run.Noise = r.noise(ctx, o.History.Until)
	}
	o.Notes = o.notes(r.log.String())
	if r.crew != nil {
		o.Notes = append(o.Notes, r.crew.answers.notes()...)
	}
	return o
}

// noise is how late the canary was during the run, on the run's clock.
func (r *run) noise(ctx context.Context, until time.Duration) assert.Noise {
	if r.clock.Speed() == 1 {
		return r.options.Canary.noise(ctx, r.server.Journal().Began(), until, sliceSpan, stallSpan)
	}
	return magnify(r.options.Canary.noise(ctx, r.clock.Began(), r.clock.Real(until), fastSliceSpan, r.clock.Real(stallSpan)), r.clock)
}

// hear waits until the journal has something of a client that has ended, for a moment at most. Under TLS it takes the server to
// notice that the client left: one that turned its certificate down did not send a request, but was not silent either.
func (r *run) hear(client string) {
	if r.options.CA == nil {
		return
	}
	of := func(e journal.Entry) bool { return e.Client == client && !e.Unused() }
	timer := time.NewTimer(hearTime)
	defer timer.Stop()
	for {
		changed := r.server.Journal().Changed()
		if slices.ContainsFunc(r.server.Journal().Entries(), of) {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		}
	}
}

// settle waits until no exchange is going on, for so long at most.
func settle(j *journal.Journal, within time.Duration) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		changed := j.Changed()
		if j.Pending() == 0 {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		}
	}
}
