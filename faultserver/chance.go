package faultserver

import "math/rand/v2"

// All randomness comes from the seed and the request's sequence number, never from the order in which requests happen to
// run: one seed gives one outcome for each sequence number.

// roll returns a number in [0, 1) for a rule and a request.
func roll(seed uint64, rule int, seq uint64) float64 {
	return float64(mix(mix(seed+uint64(rule)+1)^seq)>>11) / (1 << 53)
}

// draws returns the random numbers that the faults of one request use.
func draws(seed, seq uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(seq)))
}

// mix spreads every bit of x over the result (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
