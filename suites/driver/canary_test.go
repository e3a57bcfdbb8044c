package driver

import (
	"context"
	"testing"
	"time"
)

func TestCanaryCoversEvenAShortRun(t *testing.T) {
	canary := NewCanary()
	leave, err := canary.join()
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	noise := canary.noise(t.Context(), time.Now(), time.Microsecond, sliceSpan, stallSpan)
	if len(noise.Slices) != 1 || noise.Slices[0].Samples == 0 {
		t.Errorf("%+v", noise)
	}
}

func TestCanaryLivesWhileItIsNeeded(t *testing.T) {
	canary, began := NewCanary(), time.Now()
	for round := range 2 {
		first, err1 := canary.join()
		second, err2 := canary.join()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		first()
		first()
		canary.noise(t.Context(), time.Now(), 0, sliceSpan, stallSpan) // would wait for ever if it were gone
		second()
		if canary.users != 0 || len(canary.samples) <= round {
			t.Errorf("round %d: %d users, %d samples", round, canary.users, len(canary.samples))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if noise := canary.noise(ended, began, time.Hour, sliceSpan, stallSpan); len(noise.Slices) == 0 {
		t.Error("what it saw is gone")
	}
}
