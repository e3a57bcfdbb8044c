package faultserver_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// hasty runs a test in virtual time of which the server makes fifty times as much.
func hasty(t *testing.T, test func(t *testing.T, w *world, by clock.Clock)) {
	t.Helper()
	virtual(t, func(t *testing.T, w *world) { test(t, w, w.Journal().Clock()) },
		func(s *faultserver.Server) { faultserver.WithJournal(journal.On(clock.Fast(50), 0))(s) })
}

// took is how long something takes by a clock, and on the machine.
func took(by clock.Clock, do func()) (scaled, machine time.Duration) {
	began, real := by.Now(), time.Now()
	do()
	return by.Since(began), time.Since(real)
}

func TestDelaysAreTheFastClocks(t *testing.T) {
	hasty(t, func(t *testing.T, w *world, by clock.Clock) {
		zero := 0
		for name, row := range map[string]struct {
			f    fault.Fault
			want time.Duration
		}{
			"latency":   {&fault.Latency{Fixed: 30 * time.Second}, 30 * time.Second},
			"hang":      {&fault.Hang{For: time.Minute}, time.Minute},
			"slow-head": {&fault.SlowHead{Bytes: 1 << 10, Every: time.Hour, From: fault.Headers}, time.Hour},
			"capacity":  {&fault.Capacity{Service: 6 * time.Minute, Queue: &zero}, 6 * time.Minute},
		} {
			w.use(t, faultserver.Rule{Fault: fault.Of(name, row.f)})
			w.once = true
			scaled, machine := took(by, func() { w.do(t, "POST /") })
			if scaled != row.want || machine != row.want/50 {
				t.Errorf("%s: took %v, on the machine %v; want %v and %v", name, scaled, machine, row.want, row.want/50)
			}
			synctest.Wait()
			if e := w.last(t); e.Took != row.want {
				t.Errorf("%s: the journal says %v, want %v", name, e.Took, row.want)
			}
		}
	})
}

// A queue gives its turns by the same clock, to those that wait too.
func TestQueuesAreServedByTheFastClock(t *testing.T) {
	hasty(t, func(t *testing.T, w *world, by clock.Clock) {
		w.use(t, faultserver.Rule{Fault: fault.Of("capacity", &fault.Capacity{Service: time.Minute})})
		ends := make(chan time.Duration, 3)
		began := by.Now()
		for range 3 {
			go func() {
				w.do(t, "GET /")
				ends <- by.Since(began)
			}()
		}
		for i := range 3 {
			if got, want := <-ends, time.Duration(i+1)*time.Minute; got != want {
				t.Errorf("answer %d came after %v, want %v", i+1, got, want)
			}
		}
	})
}

func TestSchedulesFollowTheFastClock(t *testing.T) {
	hasty(t, func(t *testing.T, w *world, by clock.Clock) {
		w.use(t, faultserver.Rule{When: schedule.Of(&schedule.Window{For: 2 * time.Hour}), Fault: status(503)})
		for _, row := range []struct {
			at   time.Duration
			want int
		}{{0, 503}, {time.Hour, 503}, {2*time.Hour - time.Second, 503}, {2 * time.Hour, 200}} {
			by.Sleep(row.at - w.Journal().Elapsed())
			if got := w.do(t, "GET /"); got != row.want {
				t.Errorf("%d at %v, want %d", got, row.at, row.want)
			}
			if e := w.last(t); e.At != row.at {
				t.Errorf("the journal says %v, want %v", e.At, row.at)
			}
		}
	})
}

// All dates that a server sends are of its clock, Date too: a client counts a Retry-After date from one of them.
func TestDatesAreTheFastClocks(t *testing.T) {
	hasty(t, func(t *testing.T, w *world, by clock.Clock) {
		by.Sleep(5 * time.Hour)
		w.use(t, faultserver.Rule{Match: faultserver.Match{Path: "/date"}, Fault: fault.Of("status", &fault.Status{RetryAfter: fault.Date(3 * time.Minute)})},
			faultserver.Rule{Match: faultserver.Match{Path: "/seconds"}, Fault: fault.Of("status", &fault.Status{RetryAfter: fault.Seconds(3 * time.Minute)})},
			faultserver.Rule{Match: faultserver.Match{Path: "/by-hand"}, Fault: fault.Of("slow-head", &fault.SlowHead{Bytes: 1 << 10})})
		now := by.Now().Truncate(time.Second)
		for path, after := range map[string]string{
			"/date": now.Add(3 * time.Minute).UTC().Format(http.TimeFormat), "/seconds": "180", "/by-hand": "", "/healthy": "",
		} {
			answer, err := w.client.Get("http://api.test" + path)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			date, err := http.ParseTime(answer.Header.Get("Date"))
			if err != nil || date.Sub(now) > time.Second || date.Before(now) {
				t.Errorf("%s: Date %q, want %v: %v", path, answer.Header.Get("Date"), now.UTC(), err)
			}
			if got := answer.Header.Get("Retry-After"); got != after {
				t.Errorf("%s: Retry-After %q, want %q", path, got, after)
			}
		}
	})
}

func TestLimitsAndTokensFollowTheFastClock(t *testing.T) {
	hasty(t, func(t *testing.T, w *world, by clock.Clock) {
		by.Sleep(time.Hour) // the limit begins later than the clock
		w.use(t, faultserver.Rule{Fault: limit(&fault.Ratelimit{Limits: []fault.Rate{{N: 2, Per: 10 * time.Minute}}})})
		w.do(t, "GET /")
		by.Sleep(4 * time.Minute)
		for _, row := range []struct {
			wait   time.Duration
			status int
			after  string
		}{{0, 200, ""}, {0, 429, "360"}, {6*time.Minute - time.Second, 429, "1"}, {time.Second, 200, ""}} {
			by.Sleep(row.wait)
			if got := w.do(t, "GET /"); got != row.status || w.last(t).RetryAfter != row.after {
				t.Errorf("after %v: %d with Retry-After %q, want %d with %q", row.wait, got, w.last(t).RetryAfter, row.status, row.after)
			}
		}

		w.use(t, faultserver.Rule{Fault: fault.Of("auth", &fault.Auth{Lives: 10 * time.Minute})})
		_, body := w.ask(t, "POST /token", "")
		token := "Bearer " + body[len(`{"access_token":"`):][:32]
		for _, row := range []struct {
			wait   time.Duration
			status int
		}{{10*time.Minute - time.Second, 200}, {time.Second, 401}} {
			by.Sleep(row.wait)
			if got := w.do(t, "GET /", "Authorization", token); got != row.status {
				t.Errorf("after %v: %d, want %d", row.wait, got, row.status)
			}
		}
	})
}

func TestIdleConnectionsAreClosedByTheFastClock(t *testing.T) {
	hasty(t, func(t *testing.T, w *world, by clock.Clock) {
		w.use(t, faultserver.Rule{Fault: fault.Of("idle-close", &fault.IdleClose{After: 10 * time.Minute})})
		w.do(t, "GET /")
		by.Sleep(10*time.Minute - time.Second)
		w.do(t, "GET /")
		if e := w.last(t); e.Conn != 1 {
			t.Errorf("the connection was closed early: %+v", e)
		}
		by.Sleep(10*time.Minute + time.Second)
		w.do(t, "GET /")
		if e := w.last(t); e.Conn != 2 || e.Status != 200 {
			t.Errorf("the connection was not closed: %+v", e)
		}
	})
}
