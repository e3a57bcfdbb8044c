package driver

import (
	"context"
	"debug/elf"
	"fmt"
	"os/exec"
	"slices"
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
	Overhead time.Duration // of the machine's time that the client takes for itself before a retry, beside waiting
}

// Obeys finds out by trial whether a command's waits follow a clock that runs faster: several run side by side against a
// server that answers 503 with Retry-After: 1, on the machine's clock and on a faster one, until their first retry. What a
// program is made of tells less: one may load libfaketime and yet sleep by the kernel's own clock.
func Obeys(ctx context.Context, client Client, o Options) (Pace, error) {
	p, err := trial(ctx, client, o)
	if err == nil && p.again {
		p, err = trial(ctx, client, o)
	}
	if err == nil && !p.Obeys && static(client) {
		p.Why += "; it is statically linked, so that nothing can be loaded into it"
	}
	return p, err
}

// trial lets clients retry on both clocks, once.
func trial(ctx context.Context, client Client, o Options) (Pace, error) {
	o.Enough, o.StormLimit, o.Limit, o.trial, o.blind = 2, preflightStorm, trialLimit, true, true
	side := func(clients, speed int) ([]time.Duration, int, error) {
		o := o
		o.Clients, o.Speed = clients, max(1, speed)
		o.Limit *= time.Duration(o.Speed)
		s := scenarios.Scenario{Name: "trial", Rules: []faultserver.Rule{{
			Fault: fault.Of("status", &fault.Status{Code: 503, RetryAfter: fault.Seconds(time.Second)}),
		}}}
		out, err := Run(ctx, s, client, o)
		if err != nil {
			return nil, 0, err
		}
		gaps := firstGaps(out)
		for i := range gaps {
			gaps[i] /= time.Duration(o.Speed)
		}
		slices.Sort(gaps)
		stopped := 0 // without a retry
		for _, e := range out.Ends {
			if e.Stopped != "" && e.Requests < 2 {
				stopped++
			}
		}
		return gaps, stopped, nil
	}
	type result struct {
		gaps []time.Duration
		late int
		err  error
	}
	other := make(chan result, 1)
	go func() {
		gaps, late, err := side(4, trialSpeed)
		other <- result{gaps, late, err}
	}()
	plain, late, err := side(3, 1)
	fast := <-other
	if err == nil {
		err = fast.err
	}
	if err != nil {
		return Pace{}, err
	}
	for range late {
		plain = append(plain, trialLimit)
	}
	return pace(plain, fast.gaps, fast.late), nil
}

// pace compares first waits, sorted and in the machine's time: those in real time, and those on the fast clock, where so
// many clients did not come back in time.
func pace(plain, fast []time.Duration, late int) Pace {
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
	return Pace{Obeys: true, Wait: wait, Overhead: max(0, fast[0]-plain[0]/trialSpeed)}
}

// firstGaps are the waits before the first retry of each client that came back.
func firstGaps(o *Outcome) (gaps []time.Duration) {
	type route struct{ client, method, path string }
	ended := map[route]time.Duration{}
	seen := map[string]bool{}
	for _, e := range o.History.Entries {
		at := route{e.Client, e.Method, e.Path}
		if end, ok := ended[at]; ok && !seen[e.Client] {
			seen[e.Client] = true
			gaps = append(gaps, max(0, e.At-end))
		}
		if e.Method != "" {
			ended[at] = e.End()
		}
	}
	return gaps
}

// static reports whether a command is known to be linked statically.
func static(client Client) bool {
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
// client takes for itself makes a tenth of it, but ten times as fast in any case if that leaves waits of 50 ms.
func (p Pace) Speed() int {
	if !p.Obeys {
		return 1
	}
	speed := p.Wait / (20 * time.Millisecond)
	if p.Overhead > 0 {
		speed = min(speed, p.Wait/10/p.Overhead)
	}
	return int(max(1, min(fastest, max(speed, min(10, p.Wait/(50*time.Millisecond))))))
}

// fastest is the highest speed: beyond it the machine's own lateness is seconds.
const fastest = 50
