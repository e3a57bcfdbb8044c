package driver

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// crew is the one process that makes the calls of all clients of a run.
type crew struct {
	argv    []string
	target  Target // without an address: each line has one
	answers *answers
	lines   chan line

	ready   chan struct{} // closed when the process runs, or cannot
	failed  error         // why it cannot
	process *process

	gone chan struct{} // closed when it makes no call any more
	exit Exit          // and why
	at   time.Time     // when that was noticed

	dismissed chan bool     // whether it is waited for
	over      chan struct{} // closed when all of it has ended
}

// line is what the process reads, and written gets whether it could be written.
type line struct {
	text    string
	written chan error
}

func newCrew(argv []string) *crew {
	return &crew{
		argv: argv, answers: newAnswers(), lines: make(chan line),
		ready: make(chan struct{}), gone: make(chan struct{}), dismissed: make(chan bool, 1), over: make(chan struct{}),
	}
}

// live starts the process when it is its turn, and keeps it until it is dismissed.
func (c *crew) live(begin func() error) {
	defer close(c.over)
	// The kernel ends the process when the thread that started it ends, so this thread must live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.failed = begin(); c.failed == nil {
		var err error
		if c.process, err = start(c.argv, c.target, true, c.answers); err != nil {
			c.failed = &StartError{Command: c.argv[0], Err: err}
		}
	}
	close(c.ready)
	if c.failed != nil {
		return
	}
	var helpers sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	helpers.Go(func() { c.write(ctx) })
	helpers.Go(c.watch)
	patient := <-c.dismissed
	stop()
	_ = c.process.input.SetWriteDeadline(time.Now()) // it may read no more
	if patient {
		select {
		case <-c.process.exited:
		case <-time.After(grace):
		}
	}
	c.process.end(grace)
	helpers.Wait()
}

// write gives the process its lines, and the end of its input when ctx ends.
func (c *crew) write(ctx context.Context) {
	defer c.process.input.Close()
	for {
		select {
		case l := <-c.lines:
			_, err := c.process.input.WriteString(l.text)
			l.written <- err
		case <-ctx.Done():
			return
		}
	}
}

// watch waits until the process makes no call any more. It may have said something before it ended that was not read yet, and
// may close its output shortly before it ends.
func (c *crew) watch() {
	defer close(c.gone)
	p := c.process
	select {
	case <-p.exited:
	case <-c.answers.closed:
	}
	c.at = time.Now()
	timer := time.NewTimer(drain)
	defer timer.Stop()
	for _, soon := range []<-chan struct{}{p.exited, p.silent} {
		select {
		case <-soon:
		case <-timer.C:
			timer.Reset(0)
		}
	}
	select {
	case <-p.exited:
		c.exit = p.state()
		c.exit.lost = c.exit.String()
	default:
		c.exit = Exit{Code: -1, Err: errors.New("it closed its standard output"), lost: "closed its standard output"}
	}
}

// end ends the process with all that it started: at once, or after it could end by itself now that its input has.
// It reports whether something of it could not be ended.
func (c *crew) end(patient bool) (alive bool) {
	c.dismissed <- patient
	<-c.over
	return c.process != nil && c.process.alive
}

// work has the process make the calls of a client's shift, and returns when all have ended.
func (c *crew) work(ctx context.Context, t Target, s *shift) (Exit, Output) {
	pacing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.gone:
			stop()
		case <-pacing.Done():
		}
	}()
	var all sync.WaitGroup
	var sum total
	for {
		id, ok := s.next(pacing)
		if !ok {
			break
		}
		ended := c.answers.expect(id)
		if !c.give(pacing, id, t.URL) {
			s.back()
			s.done()
			break
		}
		all.Go(func() {
			defer s.done()
			sum.add(c.await(ctx, ended), Output{})
		})
	}
	all.Wait()
	left := s.work.Number() - len(s.times())
	if left > 0 && ctx.Err() == nil { // the process took no more
		sum.add(c.lost(), Output{})
	}
	exit, _ := sum.exit(left)
	return exit, c.output()
}

// lost is how the process came to take no line.
func (c *crew) lost() Exit {
	select {
	case <-c.gone:
		return c.exit
	case <-time.After(2 * drain): // if it is ending, that is noticed by then
		return Exit{Code: -1, Err: errors.New("it closed its standard input"), lost: "closed its standard input"}
	}
}

// give writes the line for a call. It is false when that cannot be.
func (c *crew) give(ctx context.Context, id, url string) bool {
	l := line{fmt.Sprintf("%s %s\n", id, url), make(chan error, 1)}
	select {
	case c.lines <- l:
	case <-ctx.Done():
		return false
	}
	select {
	case err := <-l.written:
		return err == nil
	case <-ctx.Done():
		return false
	}
}

// await waits for a call's end.
func (c *crew) await(ctx context.Context, ended <-chan string) Exit {
	select {
	case wrong := <-ended:
		return answered(wrong)
	case <-ctx.Done():
		return Exit{Code: -1, Err: context.Cause(ctx)}
	case <-c.gone:
	}
	select {
	case wrong := <-ended: // it was said last
		return answered(wrong)
	default:
		return c.exit
	}
}

// answered is how a call ended, from what the worker says went wrong.
func answered(wrong string) Exit {
	if wrong == "" {
		return Exit{Code: -1}
	}
	return Exit{Code: -1, Err: errors.New(wrong)}
}

// output is what the process has printed so far, without its answers.
func (c *crew) output() Output {
	out := c.process.output()
	out.Stdout += c.answers.pending()
	return out
}
