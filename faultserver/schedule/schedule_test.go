package schedule_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/schedule"
)

const ms = time.Millisecond

func TestActive(t *testing.T) {
	type at struct {
		elapsed time.Duration
		hit     int
		want    bool
	}
	for _, c := range []struct {
		name string
		s    schedule.Schedule
		at   []at
	}{
		{"always", schedule.Always{}, []at{{0, 1, true}, {time.Hour, 1_000_000, true}}},
		{"first 1", schedule.First(1), []at{{0, 1, true}, {0, 2, false}}},
		{"first 3", schedule.First(3), []at{{time.Hour, 3, true}, {0, 4, false}}},
		{"sequence", schedule.Sequence{Hits: []int{1, 2, 4}}, []at{{0, 1, true}, {0, 2, true}, {0, 3, false}, {time.Hour, 4, true}, {0, 5, false}}},
		{"window from the start", schedule.Window{For: 100 * ms}, []at{{0, 1, true}, {100*ms - 1, 99, true}, {100 * ms, 1, false}}},
		{"window later", schedule.Window{From: 50 * ms, For: 100 * ms}, []at{{0, 1, false}, {50*ms - 1, 2, false}, {50 * ms, 3, true}, {150*ms - 1, 4, true}, {150 * ms, 5, false}}},
		{"window without end", schedule.Window{From: time.Second, For: 1<<63 - 1}, []at{{0, 1, false}, {time.Second, 2, true}, {1 << 62, 3, true}}},
		{"burst", schedule.Burst{On: 2 * ms, Every: 10 * ms}, []at{{0, 1, true}, {2*ms - 1, 1, true}, {2 * ms, 1, false}, {10*ms - 1, 1, false}, {10 * ms, 1, true}, {1002 * ms, 1, false}, {1001 * ms, 1, true}}},
		{"flap", schedule.Flap{Up: 3 * ms, Down: ms}, []at{{0, 1, true}, {ms - 1, 1, true}, {ms, 1, false}, {4*ms - 1, 1, false}, {4 * ms, 1, true}, {5 * ms, 1, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if check, ok := c.s.(schedule.Checker); ok && check.Check() != nil {
				t.Fatal(check.Check())
			}
			for _, a := range c.at {
				if got := c.s.Active(a.elapsed, a.hit); got != a.want {
					t.Errorf("%+v at %v, hit %d: %v, want %v", c.s, a.elapsed, a.hit, got, a.want)
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, want string
		s          schedule.Checker
	}{
		{"first none", "first is 0, so the rule is never on; it takes 1 or more", schedule.First(0)},
		{"first negative", "first is -2, so the rule is never on; it takes 1 or more", schedule.First(-2)},
		{"sequence of nothing", "sequence.hits is empty, so the rule is never on; list the requests to act on, as in [1, 2, 4]", schedule.Sequence{}},
		{"sequence from 0", "sequence.hits has 0, but requests are counted from 1", schedule.Sequence{Hits: []int{0, 1}}},
		{"sequence twice", "sequence.hits has 2 twice", schedule.Sequence{Hits: []int{2, 1, 2}}},
		{"window of no length", "window.for is 0s, but has to be longer than 0s", schedule.Window{From: time.Second}},
		{"window before the start", "window.from is -1s, but there is nothing before the first request; it takes 0s or more", schedule.Window{From: -time.Second, For: 1}},
		{"burst without length", "burst.on is 0s, but has to be longer than 0s", schedule.Burst{Every: 1}},
		{"burst without period", "burst.every is 0s, but has to be longer than 0s", schedule.Burst{On: 1}},
		{"burst without pause", "burst.on (3s) leaves no pause in burst.every (2s); make it shorter, or use always", schedule.Burst{On: 3 * time.Second, Every: 2 * time.Second}},
		{"flap never up", "flap.up is 0s, but has to be longer than 0s", schedule.Flap{Down: 1}},
		{"flap never down", "flap.down is -1ns, but has to be longer than 0s", schedule.Flap{Up: 1, Down: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.s.Check(); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
