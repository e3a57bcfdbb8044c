package faultserver_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// outcomes sends requests from 64 clients at once and returns what became of each sequence number: the rule, and a status
// that the fault draws.
func outcomes(t *testing.T, seed uint64, chance float64, n int, names ...string) (rules []string, statuses []int) {
	t.Helper()
	s := faultserver.New(faultserver.WithSeed(seed))
	defer s.Close()
	random := fault.Of("random", faultFunc(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.WriteHeader(500 + w.(fault.Draws).Draw().IntN(100))
	}))
	var plan faultserver.Plan
	for _, name := range names {
		plan.Rules = append(plan.Rules, faultserver.Rule{Name: name, Chance: &chance, Fault: random})
	}
	if err := s.Use(plan); err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for sent.Add(1) <= int64(n) {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			}
		})
	}
	group.Wait()
	for _, e := range s.Journal().Entries() {
		rules, statuses = append(rules, e.Rule), append(statuses, e.Status)
	}
	return rules, statuses
}

func TestSeed(t *testing.T) {
	const n = 10_000
	one, statuses := outcomes(t, 7, 0.5, n, "a", "b")
	again, statusesAgain := outcomes(t, 7, 0.5, n, "a", "b")
	other, _ := outcomes(t, 8, 0.5, n, "a", "b")
	count, differ := map[string]int{}, 0
	for i := range one {
		if one[i] != again[i] || statuses[i] != statusesAgain[i] {
			t.Fatalf("request %d: %q %d, then %q %d with the same seed", i+1, one[i], statuses[i], again[i], statusesAgain[i])
		}
		count[one[i]]++
		if one[i] != other[i] {
			differ++
		}
	}
	// Each request is rolled for once by each rule that it comes to.
	for rule, share := range map[string]float64{"a": 0.5, "b": 0.25, "": 0.25} {
		if off := math.Abs(float64(count[rule]) - share*n); off > 5*math.Sqrt(n*share*(1-share)) {
			t.Errorf("rule %q acted on %d of %d", rule, count[rule], n)
		}
	}
	if differ < n/2 {
		t.Errorf("another seed changes %d of %d outcomes", differ, n)
	}
}

func TestChanceOneIsAlways(t *testing.T) {
	rules, _ := outcomes(t, 3, 1, 1000, "a")
	for i, rule := range rules {
		if rule != "a" {
			t.Fatalf("request %d: %q", i+1, rule)
		}
	}
}
