// Package clock is time as a client under test lives it: the machine's own, or many times faster, so that backoffs of
// minutes take seconds. Server, journal and harness tell the time by one clock, and so does the client.
//
// It is a leaf that imports nothing but the standard library.
package clock

import (
	"context"
	"math"
	"time"
)

// Clock runs at Speed times the machine's time from the moment on at which it was made. The zero value is the machine's
// own time, and inside a testing/synctest bubble that bubble's. It is a small value, to be copied freely.
type Clock struct {
	began time.Time
	speed int64
}

// Fast starts a clock at the machine's time that runs speed times faster from now on. A speed of 1 or less is the zero
// value.
func Fast(speed int) Clock {
	if speed <= 1 {
		return Clock{}
	}
	return Clock{time.Now(), int64(speed)}
}

// Speed is how many times faster than the machine's time the clock runs; 1 for the zero value.
func (c Clock) Speed() int { return int(max(1, c.speed)) }

// Began is when a fast clock showed the machine's time; zero for the zero value.
func (c Clock) Began() time.Time { return c.began }

// Now is the time by this clock. Like that of time.Now it has a monotonic part: times of one clock can be subtracted.
func (c Clock) Now() time.Time {
	if c.speed == 0 {
		return time.Now()
	}
	return c.began.Add(c.Scale(time.Since(c.began)))
}

// Since is how much time went by since t, which is of this clock.
func (c Clock) Since(t time.Time) time.Duration {
	if c.speed == 0 {
		return time.Since(t)
	}
	return c.Now().Sub(t)
}

// Until is how much time is left until t, which is of this clock.
func (c Clock) Until(t time.Time) time.Duration { return -c.Since(t) }

// Real is how long d takes on the machine, rounded up: what waits that long never waits less than d.
func (c Clock) Real(d time.Duration) time.Duration {
	if c.speed == 0 || d <= 0 {
		return d
	}
	return (d-1)/time.Duration(c.speed) + 1
}

// Scale is how much time goes by on this clock while d does on the machine, as far as a Duration can say.
func (c Clock) Scale(d time.Duration) time.Duration {
	if c.speed == 0 {
		return d
	}
	limit := time.Duration(math.MaxInt64 / c.speed)
	return max(-limit, min(limit, d)) * time.Duration(c.speed)
}

// NewTimer is a timer that fires after d.
func (c Clock) NewTimer(d time.Duration) *time.Timer { return time.NewTimer(c.Real(d)) }

// AfterFunc calls f after d.
func (c Clock) AfterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(c.Real(d), f) }

// Sleep waits for d.
func (c Clock) Sleep(d time.Duration) { time.Sleep(c.Real(d)) }

type key struct{}

// With lets whatever is done under ctx tell the time by c. The zero value needs no mention.
func With(ctx context.Context, c Clock) context.Context {
	if c.speed == 0 {
		return ctx
	}
	return context.WithValue(ctx, key{}, c)
}

// From is the clock to tell the time by under ctx; the machine's own unless With gave another.
func From(ctx context.Context) Clock {
	c, _ := ctx.Value(key{}).(Clock)
	return c
}
