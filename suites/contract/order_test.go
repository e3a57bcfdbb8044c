package contract_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// TestLongScenariosBeginFirst gives three scenarios so many clients that they run one after the other. The first may be any:
// who waits for its result asks for it at once.
func TestLongScenariosBeginFirst(t *testing.T) {
	var all []scenarios.Scenario
	for _, s := range []scenarios.Scenario{{Name: "first"}, {Name: "short"}, {Name: "long", Limit: 2 * time.Minute}, {Name: "longer", Limit: 3 * time.Minute}} {
		s.Clients, s.Judges = driver.DefaultSlots, []string{"no-retry-4xx"}
		all = append(all, s)
	}
	var mu sync.Mutex
	var order []string
	_, err := contract.Examine(t.Context(), contract.Request{
		Client: driver.Func("get", func(ctx context.Context, url string) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			return response.Body.Close()
		}), Seed: 1, FailOn: assert.Major, Scenarios: all,
		Progress: func(e driver.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Scenario != "" && e.Kind == driver.Started && !slices.Contains(order, e.Scenario) {
				order = append(order, e.Scenario)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	order = slices.DeleteFunc(order, func(name string) bool { return name == "first" })
	at := func(name string) int { return slices.Index(order, name) }
	if at("longer") < 0 || at("longer") > at("long") || at("long") > at("short") {
		t.Errorf("they began in the order %q", order)
	}
}
