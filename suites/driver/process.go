package driver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	firstPoll = time.Millisecond       // how often it is looked whether processes are gone, as nothing reports that:
	lastPoll  = 50 * time.Millisecond  // less and less often, since each look goes through all processes
	lastWait  = 2 * time.Second        // for killed processes to vanish
	drain     = 500 * time.Millisecond // for output that is still in the pipe after its writers are gone
)

// markers tell which processes belong to this harness, and to which of its clients: RETRYGATE_RUN=harness.number. They
// are inherited through setsid and double forks, where process groups and parents are not. What clears its environment
// (env -i, sudo) still carries a brand, where there are brands.
var (
	harness = rand.Text()
	runs    atomic.Uint64
)

const markerName = "RETRYGATE_RUN="

// process is a running command with all that it started.
type process struct {
	cmd     *exec.Cmd
	marker  string
	brand   brand
	born    uint64 // when the command started, as the system counts; nothing that it started is older
	exited  chan struct{}
	unwatch func() // the watchdog is needed until all is gone, not only the process itself

	stdout, stderr tail
	pipes          []*os.File // our ends
	input          *os.File   // our end of stdin; nil: it is empty
	copies         sync.WaitGroup
	silent         chan struct{} // closed when all output was read

	fake *fake // its clock; nil: the machine's

	alive bool // something of it could not be ended
}

// start starts argv in a process group of its own, with a pipe for stdin if there is input, and what reads its stdout, nil if
// that is only kept. The calling goroutine must be locked to its thread until the process has ended.
func start(argv []string, t Target, input bool, a *answers) (*process, error) {
	number := runs.Add(1)
	p := &process{
		cmd:     exec.Command(argv[0], argv[1:]...),
		marker:  fmt.Sprintf("%s%s.%d", markerName, harness, number),
		brand:   newBrand(number),
		exited:  make(chan struct{}),
		silent:  make(chan struct{}),
		unwatch: watchdog.acquire(),
	}
	p.cmd.Env = environment(t, p.marker)
	p.cmd.SysProcAttr = attributes()
	theirs, err := p.connect(a)
	if err == nil && input {
		theirs, err = p.connectInput(theirs)
	}
	if err == nil && t.clock.Speed() > 1 {
		if p.fake, err = newFake(t.faketime, t.clock, fmt.Sprintf("%s.%d", harness, number)); err == nil {
			p.cmd.Env = p.fake.environment(p.cmd.Env)
		}
	}
	if err == nil {
		err = p.launch()
	}
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		p.unwatch()
		p.hangUp()
		if p.input != nil {
			p.input.Close()
		}
		p.fake.remove()
		return nil, err
	}
	p.born = born(p.cmd.Process.Pid)
	go func() {
		_ = p.cmd.Wait() // how it ended stands in ProcessState
		close(p.exited)
	}()
	go func() {
		p.copies.Wait()
		close(p.silent)
	}()
	return p, nil
}

// connect makes the pipes for stdout and stderr and returns the ends that the process gets. They are our own because
// exec's would make Wait wait for any grandchild that holds them.
func (p *process) connect(a *answers) (theirs []*os.File, err error) {
	var stdout io.Writer = &p.stdout
	ended := func() {}
	if a != nil {
		a.other, stdout, ended = &p.stdout, a, a.end
	}
	for _, to := range []struct {
		keep  io.Writer
		file  *io.Writer
		ended func()
	}{{stdout, &p.cmd.Stdout, ended}, {&p.stderr, &p.cmd.Stderr, func() {}}} {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.pipes, theirs = append(p.pipes, r), append(theirs, w)
		*to.file = w
		p.copies.Go(func() {
			defer to.ended()
			_, _ = io.Copy(to.keep, r) // ends with the pipe or at hangUp's deadline
		})
	}
	return theirs, nil
}

// connectInput makes the pipe for stdin, and adds the end that the process gets to theirs.
func (p *process) connectInput(theirs []*os.File) ([]*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.input, p.cmd.Stdin = w, r
	return append(theirs, r), nil
}

// feed writes a line for each call of a shift, until that is over, ctx ends, or the process has. The function that it
// returns waits until no line is written any more; the process must have ended.
func (p *process) feed(ctx context.Context, url string, s *shift) (finish func()) {
	ctx, stop := context.WithCancel(ctx)
	stopWriting := context.AfterFunc(ctx, func() { _ = p.input.SetWriteDeadline(time.Now()) }) // it may read no more
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer p.input.Close()
		for {
			id, ok := s.next(ctx)
			if !ok {
				return
			}
			if _, err := fmt.Fprintf(p.input, "%s %s\n", id, url); err != nil {
				s.back()
				return
			}
		}
	}()
	go func() {
		select {
		case <-p.exited:
			stop()
		case <-done:
		}
	}()
	return func() {
		stop()
		<-done
		stopWriting()
	}
}

// hangUp ends the reading of output: at once if nobody holds the other ends any more, else soon.
func (p *process) hangUp() {
	for _, r := range p.pipes {
		_ = r.SetReadDeadline(time.Now().Add(drain)) // fails where pipes have none; then the writers' end is the only one
	}
	p.copies.Wait()
	for _, r := range p.pipes {
		r.Close()
	}
}

// end asks the process and all that it started to end, and kills what is left of them after the grace.
func (p *process) end(grace time.Duration) {
	defer p.unwatch()
	defer p.fake.remove()
	defer p.hangUp()
	if p.gone(0, nil) {
		return
	}
	if grace > 0 {
		p.signal(syscall.SIGTERM)
		if p.gone(grace, nil) {
			return
		}
	}
	p.alive = !p.gone(lastWait, func() { p.signal(syscall.SIGKILL) })
}

// linger waits for what the command, which has ended, left running: until that is gone or ctx ends. It tells how many
// processes there are whenever that changes.
func (p *process) linger(ctx context.Context, tell func(n int)) {
	for last := 0; ; {
		l := p.left()
		if n := l.count(); n != last {
			tell(n)
			last = n
		}
		if l.none() || ctx.Err() != nil {
			return
		}
		p.await(ctx, l)
	}
}

// await returns when nothing of l runs any more or ctx has ended, and after a second, since others may have been started.
func (p *process) await(ctx context.Context, l left) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		if len(l.pids) > 0 && !anyRuns(l.pids) || len(l.pids) == 0 && p.left().none() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// left is what remains of a command.
type left struct {
	group  bool  // something in its process group
	pids   []int // all that was found; empty where the members of a group cannot be listed
	strays []int // what got out of the group
}

func (l left) none() bool { return !l.group && len(l.strays) == 0 }

func (l left) count() int {
	if l.group {
		return max(1, len(l.pids))
	}
	return len(l.pids)
}

func (p *process) left() left {
	l := survivors(p.cmd.Process.Pid, p.marker, p.brand, p.born)
	select {
	case <-p.exited:
	default:
		l.group = true
	}
	return l
}

// signal sends s once to each process that is left.
func (p *process) signal(s syscall.Signal) {
	l := p.left()
	if l.group {
		signalGroup(p.cmd.Process.Pid, s)
	}
	for _, pid := range l.strays {
		signalProcess(pid, s)
	}
}

// gone waits until nothing is left, calling again, if given, before each look. It reports whether that came true in time.
func (p *process) gone(within time.Duration, again func()) bool {
	deadline := time.Now().Add(within)
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		if again != nil {
			again()
		}
		if p.left().none() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

// exit says how the process ended. It must be over.
func (p *process) exit() Exit {
	if p.alive {
		return Exit{Code: -1, Alive: true, Err: errors.New("a process of it does not go away, even when killed")}
	}
	return p.state()
}

// state says how the process itself ended. It must have exited.
func (p *process) state() Exit {
	state := p.cmd.ProcessState
	e := Exit{Code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signal() >= 0 {
		e.Signal = status.Signal().String()
	}
	return e
}

func (p *process) output() Output {
	return Output{Stdout: p.stdout.String(), Stderr: p.stderr.String()}
}

// patience is how long a command may take to end after ctx did: nothing for one that was stopped in a storm.
func patience(ctx context.Context) time.Duration {
	var s *stopped
	if errors.As(context.Cause(ctx), &s) && s.storm {
		return 0
	}
	return grace
}
