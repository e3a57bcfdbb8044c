package faultserver

import (
	"hash/fnv"
	"io"
	"math/rand/v2"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// All randomness comes from the seed and from which request it is, never from the order in which requests happen to run: one
// seed gives one outcome for each. Which request it is says its sequence number in the journal; a rule that counts per client
// goes by the client and its hit instead, so that a client's program is the same whatever others do meanwhile.

// luck says where the random numbers of one request come from.
type luck struct{ seed, number uint64 }

// luckOf gives the luck of a request that is a rule's hit.
func (x *recorder) luckOf(c *rule, n count) luck {
	if c.per == PerClient {
		return luck{mix(x.server.seed ^ x.identity()), uint64(n.hits)}
	}
	return luck{x.server.seed, x.entry.Seq()}
}

// identity is a number for the client that is the same in every run. Names made of credentials are not: their hashes are
// keyed anew for each server.
func (x *recorder) identity() uint64 {
	name := x.client
	var unused journal.Arrival
	if secret := identify(&unused, x.request.Header); secret != "" && name == keyName(max(1, x.server.hash(account(secret)))) {
		name = "credentials " + account(secret)
	}
	return steady(name)
}

// steady is a hash that does not differ from run to run.
func steady(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // never fails
	return h.Sum64()
}

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
