package assert_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// quiet is how the driver watches a scenario on an idle machine: one call a client, and every client ended.
func quiet() assert.Key {
	return assert.Key{OneCall: true, Run: &assert.Run{
		Ended: true, Until: time.Hour, Noise: assert.Noise{Slices: []assert.Slice{{P50: ms / 2, P99: 2 * ms, Max: 3 * ms, Samples: 1000}}},
	}}
}

// fleet lets m clients make one call each that always meets status; wait gives the wait before retry k, or less than
// zero to stop.
func fleet(m, status int, wait func(client, k int) time.Duration) []journal.Entry {
	h := history.New().Request("GET", "/driver/status")
	for client := range m {
		h.Client(fmt.Sprint(client))
		at := time.Duration(client) * 3 * ms
		h.Attempt(at, ms, status)
		for k := 1; ; k++ {
			w := wait(client, k)
			if w < 0 {
				break
			}
			at += ms + w
			h.Attempt(at, ms, status)
		}
	}
	return h.Entries()
}

// broken lists the clauses of at least level that fail.
func broken(c *assert.Contract, least assert.Level, calls []assert.Call) []string {
	levels := map[string]assert.Level{}
	for _, j := range c.Judges() {
		levels[j.Kind.ID] = j.Level
	}
	var ids []string
	for _, r := range assert.Judge(c, nil, calls) {
		if r.Verdict == assert.Fail && levels[r.Clause] >= least {
			ids = append(ids, r.Clause)
		}
	}
	return ids
}

func TestStrictOnKnownClients(t *testing.T) {
	schedule := func(waits ...time.Duration) func(int, int) time.Duration {
		return func(client, k int) time.Duration {
			if k > len(waits) {
				return -1
			}
			return waits[k-1] + time.Duration(client%7)*ms/3 // timers are not exact
		}
	}
	for _, test := range []struct {
		name   string
		status int
		wait   func(client, k int) time.Duration
		want   string // blocking clauses that fail
	}{
		{"curl --retry 3", 503, schedule(s, 2*s, 4*s), "herd-index jitter-present"},
		{"curl on 400", 400, schedule(), ""},
		{"no retries", 503, schedule(), ""},
		{"immediate, three times", 503, schedule(0, 0, 0), "backoff-growth min-spacing"},
		{"ten retries", 503, schedule(s, s, s, s, s, s, s, s, s, s), "amplification-factor backoff-growth herd-index jitter-present retry-cap identical-payload-rate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := broken(assert.Strict(), assert.Major, assert.Calls(fleet(20, test.status, test.wait), quiet()))
			want := strings.Fields(test.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("broken %v, want %v", got, want)
			}
		})
	}
}

// A client that does everything right must never be failed, whatever its dice say.
func TestStrictNeverFailsFullJitter(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		for _, m := range []int{1, 5, 10, 20} {
			entries := fleet(m, 503, func(_, k int) time.Duration {
				if k > 3 {
					return -1
				}
				return time.Duration(r.Float64()*float64(100*ms<<(k-1))) + time.Duration((0.5+2*r.ExpFloat64())*float64(ms))
			})
			if got := broken(assert.Strict(), assert.Advisory, assert.Calls(entries, quiet())); len(got) > 0 {
				t.Fatalf("seed %d, %d clients: %v", seed, m, got)
			}
		}
	}
}

// Following redirects and renewing credentials are not retries, so that they use up no cap.
func TestStrictCountsRetriesOnly(t *testing.T) {
	for name, h := range map[string]*history.Builder{
		"redirected to itself seven times": history.New().Retries(0, 307, 0, 0, 0, 0, 0, 0, 0),
		"three retries after a refresh":    history.New().Auth(1).Attempt(0, ms, 401).Auth(2).Retries(2*ms, 503, 500*ms, 1100*ms, 2300*ms),
		"three retries after a redirect":   history.New().Attempt(0, ms, 302).Retries(2*ms, 503, 500*ms, 1100*ms, 2300*ms),
	} {
		t.Run(name, func(t *testing.T) {
			if got := broken(assert.Strict(), assert.Advisory, assert.Calls(h.Entries(), quiet())); len(got) > 0 {
				t.Errorf("broken %v", got)
			}
		})
	}
}
