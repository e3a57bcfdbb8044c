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
