package clock

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheZeroClockIsTheMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []Clock{{}, Fast(1), Fast(0), Fast(-3)} {
			if c != (Clock{}) || c.Speed() != 1 {
				t.Errorf("%+v is not the zero value", c)
			}
			began := c.Now()
			if !began.Equal(time.Now()) {
				t.Errorf("now is %v by it, want %v", began, time.Now())
			}
			c.Sleep(time.Hour)
			if got := c.Since(began); got != time.Hour {
				t.Errorf("an hour took %v", got)
			}
		}
	})
}

func TestAFastClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := Fast(50)
		if !c.Now().Equal(began) || c.Speed() != 50 || !c.Began().Equal(began) {
			t.Errorf("it begins at %v with speed %d, want %v and 50", c.Now(), c.Speed(), began)
		}
		time.Sleep(2 * time.Second)
		if got := c.Since(began); got != 100*time.Second {
			t.Errorf("after 2 s it shows %v, want 100 s", got)
		}
		if got := c.Until(began.Add(3 * time.Minute)); got != 80*time.Second {
			t.Errorf("%v until three minutes, want 80 s", got)
		}
		now := c.Now()
		c.Sleep(time.Minute)
		if got := c.Since(now); got != time.Minute {
			t.Errorf("a minute's sleep took %v", got)
		}
		fired := make(chan time.Time, 1)
		now = c.Now()
		c.AfterFunc(10*time.Second, func() { fired <- c.Now() })
		if got := (<-fired).Sub(now); got != 10*time.Second {
			t.Errorf("a function was called after %v, want 10 s", got)
		}
		now = c.Now()
		<-c.NewTimer(time.Second).C
		if got := c.Since(now); got != time.Second {
			t.Errorf("a timer fired after %v, want 1 s", got)
		}
	})
}

func TestWaitsAreNeverShorterThanTold(t *testing.T) {
	for _, speed := range []int{1, 2, 3, 7, 50, 1000} {
		c := Fast(speed)
		for _, d := range []time.Duration{-time.Second, 0, 1, 2, 49, 50, 51, 999, time.Second, time.Second + 1} {
			if got := c.Scale(c.Real(d)); d > 0 && (got < d || got >= d+time.Duration(speed)) || d <= 0 && got > 0 {
				t.Errorf("at speed %d, %v takes %v, which is %v", speed, d, c.Real(d), got)
			}
		}
	}
}

func TestTimesTooLongToScaleStayLong(t *testing.T) {
	c := Fast(50)
	if got := c.Scale(math.MaxInt64); got < 200*365*24*time.Hour {
		t.Errorf("the longest time became %v", got)
	}
	if got := c.Scale(math.MinInt64); got > -200*365*24*time.Hour {
		t.Errorf("the time farthest back became %v", got)
	}
}

func TestAContextCarriesTheClock(t *testing.T) {
	ctx := t.Context()
	if From(ctx) != (Clock{}) || With(ctx, Clock{}) != ctx {
		t.Error("no clock is the machine's, and costs nothing")
	}
	c := Fast(20)
	ctx, cancel := context.WithCancel(With(ctx, c))
	defer cancel()
	if From(ctx) != c {
		t.Errorf("the context has %+v, want %+v", From(ctx), c)
	}
}
