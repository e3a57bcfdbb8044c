package selftest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/clients"
)

var runs = flag.Int("runs", 60, "how many clients to draw, of the lawful and of the broken ones")

// TestDrawnLawfulClientsAreNeverAccused judges clients that nobody wrote down, so that no verdict fits the zoo alone.
func TestDrawnLawfulClientsAreNeverAccused(t *testing.T) {
	undecided := map[string]int{}
	drawn(t, 1, clients.Lawful, func(t *testing.T, c clients.Client, verdicts map[assert.Verdict]map[string][]string) {
		for id, why := range verdicts[assert.Fail] {
			t.Errorf("false alarm on %s: %s\n  %s", c.Summary, id, strings.Join(why, "\n  "))
		}
		for id := range verdicts[assert.Inconclusive] {
			undecided[id]++
		}
	})
	t.Logf("of %d lawful clients, undecided in at least one scenario: %v", *runs, undecided)
}

// TestDrawnDefectsAreFound wants each defect found by a clause that it certainly breaks, whatever its parameters. What
// statistics decide is missed once in a hundred times at most.
func TestDrawnDefectsAreFound(t *testing.T) {
	var missed []string
	drawn(t, 2, clients.Broken, func(_ *testing.T, c clients.Client, verdicts map[assert.Verdict]map[string][]string) {
		for _, id := range c.Breaks {
			if verdicts[assert.Fail][id] == nil {
				missed = append(missed, fmt.Sprintf("%s: %s\n  %s", c.Summary, id, strings.Join(slices.Concat(verdicts[assert.Pass][id],
					verdicts[assert.Inconclusive][id], verdicts[assert.NotExercised][id]), "\n  ")))
			}
		}
	})
	if len(missed) > 1+*runs/100 {
		t.Errorf("%d of %d defects missed:\n%s", len(missed), *runs, strings.Join(missed, "\n"))
	}
}

// drawn judges many clients side by side, a bubble each, and has the verdicts on them looked at one after the other.
func drawn(t *testing.T, seed uint64, draw func(*rand.Rand) clients.Client,
	look func(*testing.T, clients.Client, map[assert.Verdict]map[string][]string)) {
	var mu sync.Mutex
	t.Run("client", func(t *testing.T) {
		for i := range *runs {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				c := draw(rand.New(rand.NewPCG(seed, uint64(i))))
				r := examine(t, c)
				verdicts := map[assert.Verdict]map[string][]string{}
				for v := assert.NotExercised; v <= assert.Fail; v++ {
					verdicts[v] = byVerdict(r, v)
				}
				mu.Lock()
				defer mu.Unlock()
				look(t, c, verdicts)
			})
		}
	})
}
