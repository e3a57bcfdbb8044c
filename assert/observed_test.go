package assert_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// What package infer is given of calls: answers, what was retried, what was asked, and whether the client is done.
func TestObserved(t *testing.T) {
	h := history.New().Request("POST", "/orders").Key("k1").
		Attempt(0, ms, 503).RetryAfter("2").Cut(2*s, ms).Attempt(4*s, ms, 200).
		Client("b").Request("GET", "/orders").Key("").Attempt(5*s, ms, 404)
	run := &assert.Run{Until: time.Minute, Noise: assert.Noise{Slices: []assert.Slice{{}, {From: 3 * s, Clock: 6}}}}
	seen := assert.Observed(assert.Calls(h.Entries(), assert.Key{Run: run}))
	if len(seen) != 2 || !seen[0].Keyed || seen[0].Method != "POST" || !seen[0].Over || seen[1].Keyed {
		t.Fatalf("%+v", seen)
	}
	want := []infer.Attempt{
		{At: 0, End: ms, Answer: "503", Failed: true, Told: true, Asked: 2 * s},
		{At: 2 * s, End: 2*s + ms, Answer: "reset", Network: true, Failed: true, Retry: true, Clock: 1},
		{At: 4 * s, End: 4*s + ms, Answer: "200", Retry: true, Clock: 6},
	}
	for i, a := range seen[0].Attempts {
		if a != want[i] {
			t.Errorf("attempt %d: %+v, want %+v", i+1, a, want[i])
		}
	}
	cancelled := assert.Calls(h.Entries(), assert.Key{Run: &assert.Run{Until: time.Minute, Cancelled: s}})
	if got := assert.Observed(cancelled); len(got) != 0 {
		t.Errorf("a cancelled call shows no policy: %+v", got)
	}
}

// Each run of a verification has a client-1, and calls of one run may each have a copy of it.
func TestObservedRuns(t *testing.T) {
	call := func(name string, began time.Time) assert.Call {
		h := history.New().Attempt(0, ms, 503).Attempt(s, ms, 200)
		return assert.Calls(h.Entries(), assert.Key{Run: &assert.Run{Name: name, Began: began, Until: time.Minute}})[0]
	}
	now := time.Now()
	seen := assert.Observed([]assert.Call{call("a", now), call("a", now.Add(time.Second)), call("a", now), call("b", now)})
	if len(seen) != 4 || seen[0].Run == seen[1].Run || seen[0].Run != seen[2].Run || seen[0].Run == seen[3].Run {
		t.Errorf("%+v", seen)
	}
}

func TestInferOptions(t *testing.T) {
	quiet := &assert.Run{Noise: assert.Noise{Slices: []assert.Slice{{P50: ms / 2, P99: 2 * ms}}}}
	busy := &assert.Run{Noise: assert.Noise{Resolution: s, Slices: []assert.Slice{{P50: 5 * ms, P99: 80 * ms}, {P50: 7 * ms, P99: 90 * ms}}}}
	if got := assert.InferOptions([]assert.Call{{Run: quiet}}); !reflect.DeepEqual(got, infer.Options{Lateness: 2 * ms, Stall: 2 * ms}) {
		t.Errorf("idle: %+v", got)
	}
	fast := &assert.Run{Noise: assert.Noise{Slices: []assert.Slice{{P50: 36 * 3 * ms, P99: 36 * 4 * ms, Clock: 36}}}}
	if got := assert.InferOptions([]assert.Call{{Run: fast}}); !reflect.DeepEqual(got, infer.Options{Lateness: 3 * ms, Stall: 4 * ms}) {
		t.Errorf("on a fast clock: %+v", got)
	}
	if got := assert.InferOptions([]assert.Call{{Run: busy}, {Run: busy}}); !reflect.DeepEqual(got, infer.Options{Lateness: 7 * ms, Stall: 90 * ms, Resolution: s}) {
		t.Errorf("busy: %+v", got)
	}
}
