package faultserver

import (
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/schedule"
)

var always schedule.Always

func TestTallyCountsEachKey(t *testing.T) {
	var all tally
	for i, c := range []struct {
		key  uint64
		at   time.Duration
		want count
	}{
		{7, 3 * time.Second, count{hits: 1, order: 0, first: 3 * time.Second, on: 1, acts: true}},
		{8, 4 * time.Second, count{hits: 1, order: 1, first: 4 * time.Second, on: 1, acts: true}},
		{7, 5 * time.Second, count{hits: 2, order: 0, first: 3 * time.Second, on: 2, acts: true}},
		{8, 2 * time.Second, count{hits: 2, order: 1, first: 2 * time.Second, on: 2, acts: true}}, // arrived first, came here second
	} {
		if got := all.hit(c.key, c.at, always); got != c.want {
			t.Errorf("step %d: %+v, want %+v", i, got, c.want)
		}
	}
	all.forget(7)
	if got, want := all.hit(7, 9*time.Second, always), (count{hits: 1, order: 2, first: 9 * time.Second, on: 1, acts: true}); got != want {
		t.Errorf("after forgetting: %+v, want %+v", got, want)
	}
}

// Hits are neither lost nor given twice, however many requests come at once.
func TestTallyConcurrent(t *testing.T) {
	const workers, each, keys = 64, 200, 5
	var all tally
	seen := make([][]bool, keys)
	for k := range seen {
		seen[k] = make([]bool, workers*each+1)
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				k := (w + i) % keys
				c := all.hit(uint64(k), time.Duration(i), always)
				mu.Lock()
				if seen[k][c.hits] {
					t.Errorf("key %d: hit %d was given twice", k, c.hits)
				}
				seen[k][c.hits] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for k := range keys {
		if last := workers * each / keys; !seen[k][last] || seen[k][last+1] {
			t.Errorf("key %d was not hit exactly %d times", k, last)
		}
	}
}

// A key that keeps coming is remembered, whatever else passes; the memory stays bounded.
func TestTallyBounded(t *testing.T) {
	var all tally
	for i := range 5 * generation {
		all.hit(uint64(1000+i), 0, always)
		if i%(generation/4) == 0 {
			all.hit(1, 0, always)
		}
	}
	if got := all.hit(1, 0, always).hits; got != 21 {
		t.Errorf("the steady key has %d hits, want 21", got)
	}
	if n := len(all.now) + len(all.before); n > 2*generation {
		t.Errorf("%d keys are kept, want at most %d", n, 2*generation)
	}
}

func TestScopeText(t *testing.T) {
	for _, want := range []Scope{PerAll, PerClient, PerCall} {
		var got Scope
		text, _ := want.MarshalText()
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%s reads as %s, %v", want, got, err)
		}
	}
	var s Scope
	if err := s.UnmarshalText([]byte("cleint")); err == nil || err.Error() != `unknown scope "cleint"; did you mean client?` {
		t.Error(err)
	}
}
