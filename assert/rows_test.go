package assert_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// row is a history and what a clause has to say about it.
type row struct {
	name    string
	clause  assert.Clause // nil: the clause under test with its defaults
	history *history.Builder
	run     *assert.Run // nil: all clients have ended, on a calm machine
	want    assert.Verdict
	detail  string   // in full
	witness []uint64 // sequence numbers
}

// calm is a machine on which nothing comes late.
var calm = assert.Noise{Slices: []assert.Slice{{P50: ms, P99: 2 * ms, Max: 3 * ms, Samples: 100}}}

// check judges every row; each client of a history makes one call.
func check(t *testing.T, clause assert.Clause, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := r.clause
			if c == nil {
				c = clause
			}
			got := c.Check(grouped(r.history, r.run))
			var witness []uint64
			for _, e := range got.Witness {
				witness = append(witness, e.Seq)
			}
			if got.Clause != clause.ID() || got.Verdict != r.want || got.Detail != r.detail || !slices.Equal(witness, r.witness) {
				t.Errorf("%s %s, witness %v\n got: %s\nwant: %s, %s, witness %v", got.Clause, got.Verdict, witness, got.Detail, r.want, r.detail, r.witness)
			}
			if got.Verdict == assert.Fail && len(got.Witness) == 0 {
				t.Error("a fail without a witness")
			}
		})
	}
}

func grouped(h *history.Builder, run *assert.Run) []assert.Call {
	if run == nil {
		run = &assert.Run{Ended: true, Noise: calm}
	}
	return assert.Calls(h.Entries(), assert.Key{OneCall: true, Run: run})
}

type ns = time.Duration

// repeat is n times the same wait.
func repeat(n int, wait time.Duration) []time.Duration {
	return slices.Repeat([]time.Duration{wait}, n)
}

// clients is the history of n clients, named c0, c1, ...
func clients(n int, of func(i int, h *history.Builder)) *history.Builder {
	h := history.New()
	for i := range n {
		of(i, h.Client("c"+strconv.Itoa(i)))
	}
	return h
}
