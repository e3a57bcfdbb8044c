package infer

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkExplain explains a hundred waits, of each synthetic client in turn.
func BenchmarkExplain(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var samples []*sample
	for _, p := range truths {
		samples = append(samples, newSample(ci.run(p, 20, 5, r), Options{}))
	}
	for i := 0; b.Loop(); i++ {
		explanations(samples[i%len(samples)])
	}
}

// BenchmarkLongCalls explains as many waits as are ever looked at.
func BenchmarkLongCalls(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	long := truth{wait: curve(exp(0.5, 1.5, 60), 0.5, 1.5)}
	s := newSample(ci.run(long, 40, 40, r), Options{})
	for b.Loop() {
		explanations(s)
	}
}
