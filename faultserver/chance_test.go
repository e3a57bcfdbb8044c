package faultserver

import (
	"math"
	"testing"
)

// Rolls are even, in every series in which they are used: request after request, rule after rule, seed after seed.
func TestRoll(t *testing.T) {
	const n = 100_000
	for name, next := range map[string]func(i uint64) float64{
		"requests": func(i uint64) float64 { return roll(42, 0, i) },
		"rules":    func(i uint64) float64 { return roll(42, int(i), 1) },
		"seeds":    func(i uint64) float64 { return roll(i, 0, 1) },
	} {
		var below [10]int
		for i := range uint64(n) {
			r := next(i)
			if r < 0 || r >= 1 {
				t.Fatalf("%s: %v is outside [0, 1)", name, r)
			}
			below[int(r*10)]++
		}
		for tenth, k := range below {
			if off := math.Abs(float64(k) - n/10); off > 5*math.Sqrt(n*0.1*0.9) { // five sigma
				t.Errorf("%s: %d of %d in tenth %d", name, k, n, tenth)
			}
		}
	}
}

// Another rule, seed or request gives another roll: the same chance on two rules must not fire on the same requests.
func TestRollIndependence(t *testing.T) {
	const n = 10_000
	var rules, seeds, shifted int
	for i := range uint64(n) {
		a := roll(1, 0, i) < 0.5
		if a == (roll(1, 1, i) < 0.5) {
			rules++
		}
		if a == (roll(2, 0, i) < 0.5) {
			seeds++
		}
		if a == (roll(1, 0, i+1) < 0.5) {
			shifted++
		}
	}
	for name, k := range map[string]int{"rules": rules, "seeds": seeds, "requests": shifted} {
		if math.Abs(float64(k)-n/2) > 5*math.Sqrt(n)/2 {
			t.Errorf("neighbouring %s agree on %d of %d", name, k, n)
		}
	}
}

func TestDraws(t *testing.T) {
	if draws(1, 5).Uint64() != draws(1, 5).Uint64() {
		t.Error("the same seed and request draw different numbers")
	}
	if draws(1, 5).Uint64() == draws(1, 6).Uint64() || draws(1, 5).Uint64() == draws(2, 5).Uint64() {
		t.Error("another request or seed draws the same number")
	}
}
