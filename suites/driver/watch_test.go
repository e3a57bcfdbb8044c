package driver

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestJudgeOfARunningClient(t *testing.T) {
	options := &Options{StormLimit: 10, Enough: 3}
	for _, c := range []struct {
		name   string
		paths  string // one letter a request, a second apart
		after  time.Duration
		reason string // "" if it may go on
		next   time.Duration
	}{
		{"nothing yet", "", 0, "", time.Hour},
		{"few", "aa", time.Minute, "", time.Hour},
		{"just enough", "aaa", 0, "", enoughFor},
		{"enough for a while", "aaa", 1500 * time.Millisecond, "", 500 * time.Millisecond},
		{"enough for long", "aaa", enoughFor, "was stopped after 3 requests for GET /a", 0},
		{"more since", "aaaa", enoughFor, "was stopped after 4 requests for GET /a", 0},
		{"many paths", "abcabc", time.Minute, "", time.Hour},
		{"storm limit", "abcdefghij", time.Minute, "", time.Hour},
		{"storm", "abcdefghijk", 0, "was stopped after 11 requests in 10.00 s: it would have gone on", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			w := &watched{started: func() {}, loaded: func() {}, routes: map[string]int{}}
			for i, p := range c.paths {
				if i > 0 {
					now = now.Add(time.Second)
				}
				w.see(&journal.Entry{Method: "GET", Path: "/" + string(p)}, options.Enough, now)
			}
			if !w.enough.IsZero() && c.name == "more since" {
				now = w.enough
			}
			why, next := w.judge(options, now.Add(c.after))
			switch {
			case c.reason == "" && (why != nil || next != c.next):
				t.Errorf("got %v, next look in %v, want %v", why, next, c.next)
			case c.reason != "" && (why == nil || !strings.HasPrefix(why.Error(), c.reason)):
				t.Errorf("got %v, want %s", why, c.reason)
			case why != nil && why.storm != strings.Contains(c.reason, "gone on"):
				t.Errorf("storm %v: %v", why.storm, why)
			}
		})
	}
}

func TestEnoughCanBeSwitchedOff(t *testing.T) {
	w := &watched{started: func() {}, loaded: func() {}, routes: map[string]int{}}
	for range 50 {
		w.see(&journal.Entry{}, -1, time.Unix(1, 0))
	}
	if why, _ := w.judge(&Options{StormLimit: 100, Enough: -1}, time.Unix(1000, 0)); why != nil {
		t.Error(why)
	}
}

// Clients that are slow to start take turns: while one is starting, the next waits until it has sent something.
func TestStartsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Slots{starting: semaphore.NewWeighted(2)}
		var begun atomic.Int32
		var started []func()
		for range 4 {
			begin, done, _ := s.turn(t.Context(), time.Second, 0)
			started = append(started, done)
			go func() {
				if err := begin(); err == nil {
					begun.Add(1)
				}
			}()
			synctest.Wait() // in order
		}
		for i, want := range []int32{2, 3, 4} {
			if got := begun.Load(); got != want {
				t.Errorf("%d have begun, want %d", got, want)
			}
			started[i]()
			started[i]() // twice is once
			synctest.Wait()
		}
		time.Sleep(time.Second) // those that never sent anything give their turn up
		synctest.Wait()
		if !s.starting.TryAcquire(2) {
			t.Error("a turn was not given back")
		}
	})
}

// Where the first waits are what is looked at a client keeps its turn a little longer than it took to start, and on a faster clock
// as long again.
func TestHowLongTurnsAreKept(t *testing.T) {
	for name, c := range map[string]struct {
		speed int
		first bool
		want  float64
	}{
		"in real time":            {1, false, 0},
		"the beginning":           {1, true, 0.25},
		"on a faster clock":       {20, false, 1},
		"its beginning, the same": {20, true, 1},
	} {
		r := run{clock: clock.Fast(c.speed), options: Options{FromFirst: c.first}}
		if got := r.keeps(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// On a clock that runs faster a client keeps its turn for as long again as it took to start, unless it has come back by then.
func TestStartsOnAFastClockKeepTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Slots{starting: semaphore.NewWeighted(1)}
		begin, started, _ := s.turn(t.Context(), time.Second, 1)
		if err := begin(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		started()
		time.Sleep(99 * time.Millisecond)
		if s.starting.TryAcquire(1) {
			t.Error("the turn was given to the next at once")
		}
		time.Sleep(2 * time.Millisecond)
		if !s.starting.TryAcquire(1) {
			t.Error("the turn was not given to the next")
		}
		s.starting.Release(1)
		begin, started, loaded := s.turn(t.Context(), time.Second, 1)
		loaded() // of what never had a turn, which changes nothing
		if err := begin(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		started()
		loaded()
		if !s.starting.TryAcquire(1) {
			t.Error("the turn was not given to the next when the client came back")
		}
		time.Sleep(time.Second) // what was to give it back later does not do so again
		if s.starting.TryAcquire(1) {
			t.Error("the turn was given back twice")
		}
	})
}

// TestQuietOfWhatIsLeft has a command end at 0 s of virtual time, and leave something that may be idle.
func TestQuietOfWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		name       string
		waits      []time.Duration // before each request
		retryAfter string
		open       bool // the last one has no answer yet
		needed     time.Duration
	}{
		{"no request yet", nil, "", false, quietFirst},
		{"one request", []time.Duration{0}, "", false, quietFor},
		{"short waits", []time.Duration{0, 100 * time.Millisecond}, "", false, quietFor},
		{"long waits", []time.Duration{0, 2 * time.Second, time.Second}, "", false, 8 * time.Second},
		{"told when to come back", []time.Duration{0}, "10", false, 15 * time.Second},
		{"waiting for an answer", []time.Duration{0}, "", true, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := journal.New(0)
				w := &watched{name: "client-1"}
				w.leave(1, j.Elapsed())
				for i, wait := range c.waits {
					time.Sleep(wait)
					x := j.Arrive(journal.Arrival{Client: w.name})
					if c.open && i == len(c.waits)-1 {
						break
					}
					x.Answered(503, c.retryAfter)
					x.Close()
				}
				if why, next := w.idle(j); why != nil || next != c.needed {
					t.Errorf("got %v, %v, want %v", why, next, c.needed)
				}
				time.Sleep(c.needed)
				if why, _ := w.idle(j); (why == nil) != c.open {
					t.Errorf("after %v: got %v", c.needed, why)
				}
			})
		})
	}
}
