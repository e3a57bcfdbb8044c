package driver

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/scenarios"
)

const (
	trialSpeed = 20                    // that a client is tried at
	trialLimit = 6 * time.Second       // of the machine's time that it may take for its first retry
	noWait     = 50 * time.Millisecond // a client that waits less waits for nothing
)

// Pace is what a client makes of a clock that runs faster.
type Pace struct {
	Obeys bool   // its waits are shorter by as much
	again bool   // a second trial may tell
	Why   string // it does not, or nothing shows that it does; to follow the client's name

	Wait     time.Duration // before its first retry, in real time; a lower bound where it was longer than it was waited for
	Overhead time.Duration // of the machine's time that the client takes for itself before its first retry, beside waiting
	Later    time.Duration // the same before its second, when it has loaded what it needs; not known: as before the first
	once     bool          // Later is not known
}

// Obeys finds out by trial whether a command's waits follow a clock that runs faster: several run side by side against a
// server that answers 503 with Retry-After: 1, on the machine's clock and on a faster one, for one retry, or for two if Later
// is wanted. Few of them are enough to see that one obeys; that it does not takes more, as waits may be drawn. What a program is
// made of tells less: one may load libfaketime and yet sleep by the kernel's own clock.
func Obeys(ctx context.Context, client Client, o Options, retries int) (Pace, error) {
	var p Pace
	var err error
	for _, clients := range []int{1, 2, 2} {
		p, err = trial(ctx, client, o, retries, clients)
		if err != nil || p.Obeys || clients > 1 && !p.again {
			break
		}
	}
	if err == nil && !p.Obeys && Static(client) {
		p.Why += "; it is statically linked, so that nothing can be loaded into it"
	}
	return p, err
}

// trial lets so many clients retry on the machine's clock, and one more on a faster one.
func trial(ctx context.Context, client Client, o Options, retries, number int) (Pace, error) {
	o.Enough, o.StormLimit, o.Limit, o.trial, o.blind = 1+retries, preflightStorm, trialLimit, true, true
	side := func(clients, speed int, seated func()) (waited, error) {
		o := o
		o.Clients, o.Speed, o.Seated = clients, speed, seated
		o.Limit *= time.Duration(speed)
		s := scenarios.Scenario{Name: "trial", Rules: []faultserver.Rule{{
			Fault: fault.Of("status", &fault.Status{Code: 503, RetryAfter: fault.Seconds(time.Second)}),
		}}}
		out, err := Run(ctx, s, client, o)
		if err != nil {
			return waited{}, err
		}
		return waits(out, speed), nil
	}
	var plain waited
	var failed error
	var both sync.WaitGroup
	first := make(chan struct{}) // those in real time, who wait longer, start before the others
	seated := sync.OnceFunc(func() { close(first) })
	both.Go(func() {
		defer seated()
		plain, failed = side(number, 1, seated)
	})
	<-first
	fast, err := side(number+1, trialSpeed, nil)
	both.Wait()
	if err = errors.Join(err, failed); err != nil {
		return Pace{}, err
	}
	for range plain.late {
		plain.first = append(plain.first, trialLimit)
	}
	return pace(plain, fast), nil
}

// waited is how long the clients of a trial waited before their first two retries, sorted and in the machine's time.
type waited struct {
	first, second []time.Duration
	late          int // clients that were stopped without a retry
}

func waits(out *Outcome, speed int) (w waited) {
	w.first, w.second = earlyGaps(out)
	for _, gaps := range [][]time.Duration{w.first, w.second} {
		for i := range gaps {
			gaps[i] /= time.Duration(speed)
		}
		slices.Sort(gaps)
	}
	for _, e := range out.Ends {
		if e.Stopped != "" && e.Requests < 2 {
			w.late++
		}
	}
	return w
}

// pace compares first waits: those in real time, and those on the fast clock.
func pace(slow, quick waited) Pace {
	plain, fast, late := slow.first, quick.first, quick.late
	switch {
	case len(plain) == 0 && len(fast)+late == 0:
		return Pace{Why: "does not retry a 503, so nothing shows whether its waits follow a faster clock"}
	case len(plain) == 0 || len(fast)+late == 0:
		return Pace{Why: "retried a 503 in one trial and not in the other, so nothing shows whether its waits follow a faster clock"}
	}
	wait := plain[len(plain)/2]
	switch {
	case wait < noWait:
		return Pace{Wait: wait, Why: "waits for nothing before it retries, which cannot be made shorter"}
	case len(fast) == 0:
		return Pace{Wait: wait, again: true, Why: fmt.Sprintf("did not come back in %v on a faster clock", trialLimit)}
	case plain[0] >= trialLimit && trialSpeed*fast[0] < trialLimit:
		return Pace{Wait: wait, again: true, Why: fmt.Sprintf("did not come back within %v in real time, and did after %v on a clock %d times as fast, which does not show whether it obeys it; the machine may be too busy",
			trialLimit, fast[0].Round(time.Millisecond), trialSpeed)}
	case plain[0] >= trialLimit && late == 0 && 3*fast[len(fast)-1] < 2*trialLimit:
		return Pace{Obeys: true, Wait: wait} // too long a wait to see the end of
	case 2*fast[0] > wait:
		return Pace{Wait: wait, Why: fmt.Sprintf("waits as the machine's clock has it, not a faster one: %v before its first retry in real time, and %v on a clock %d times as fast",
			wait.Round(time.Millisecond), fast[0].Round(time.Millisecond), trialSpeed)}
	case late > 0 || 3*fast[len(fast)/2] > wait || 2*fast[len(fast)-1] > wait:
		return Pace{Wait: wait, again: true, Why: fmt.Sprintf("waited %v before its first retry in real time, and %v to %v on a clock %d times as fast, which does not show whether it obeys it; the machine may be too busy",
			wait.Round(time.Millisecond), fast[0].Round(time.Millisecond), fast[len(fast)-1].Round(time.Millisecond), trialSpeed)}
	}
	// The shortest of each: what else made waits longer was chance, or the machine, whose lateness the canary tells.
	p := Pace{Obeys: true, Wait: wait, Overhead: max(0, fast[0]-plain[0]/trialSpeed)}
	p.Later, p.once = p.Overhead, true
	if len(slow.second) > 0 && len(quick.second) > 0 {
		p.once = false
		p.Later = min(p.Overhead, max(0, quick.second[0]-slow.second[0]/trialSpeed))
	}
	return p
}

// earlyGaps are the waits before the first and the second retry of each client that came back.
func earlyGaps(o *Outcome) (first, second []time.Duration) {
	type route struct{ client, method, path string }
	ended := map[route]time.Duration{}
	seen := map[string]int{}
	for _, e := range o.History.Entries {
		at := route{e.Client, e.Method, e.Path}
		if end, ok := ended[at]; ok {
			gap := max(0, e.At-end)
			switch seen[e.Client]++; seen[e.Client] {
			case 1:
				first = append(first, gap)
			case 2:
				second = append(second, gap)
			}
		}
		if e.Method != "" {
			ended[at] = e.End()
		}
	}
	return first, second
}

// Static reports whether a command is known to be linked statically.
func Static(client Client) bool {
	argv := Argv(client)
	if len(argv) == 0 {
		return false
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return false
	}
	f, err := elf.Open(path)
	if err != nil {
		return false // a script, or no program of this system
	}
	defer f.Close()
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// Speed is how fast the client's clock may run at first: its shortest wait then still takes the machine 20 ms, and what the
// client takes for itself makes half of it where the client has still to load things, and a tenth later. Where only the first
// retry was waited for, it may make twice that wait again. But ten times as fast in any case if that leaves waits of 50 ms.
func (p Pace) Speed() int {
	if !p.Obeys {
		return 1
	}
	speed := p.Wait / (20 * time.Millisecond)
	switch {
	case p.once && p.Overhead > 0:
		speed = min(speed, 2*p.Wait/p.Overhead)
	case p.Overhead > 0:
		speed = min(speed, p.Wait/2/p.Overhead)
	}
	if p.Later > 0 && !p.once {
		speed = min(speed, p.Wait/10/p.Later)
	}
	return int(max(1, min(Fastest, max(speed, min(10, p.Wait/(50*time.Millisecond))))))
}

// Fastest is the highest speed that is chosen: beyond it the machine's own lateness is seconds.
const Fastest = 36
