package fault_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

func TestGather(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		gather *fault.Gather
		visits []visit
	}{
		"all go with the last": {&fault.Gather{Requests: 3, For: 10 * s}, []visit{
			{0, 0, "200 after 2s"}, {s, 0, "200 after 1s"}, {2 * s, 0, "200 after 0s"}, {3 * s, 0, "200 after 10s"},
		}},
		"or when the first has waited for long": {&fault.Gather{Requests: 3, For: 2 * s}, []visit{{0, 0, "200 after 2s"}, {s, 0, "200 after 1s"}}},
		"who leaves does not count": {&fault.Gather{Requests: 3}, []visit{
			{0, s, "left after 1s"}, {1500 * time.Millisecond, 0, "200 after 500ms"}, {1800 * time.Millisecond, 0, "200 after 200ms"}, {2 * s, 0, "200 after 0s"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var want []string
				for _, v := range c.visits {
					want = append(want, v.want)
				}
				f := c.gather.Fresh()
				if got := visits(f, c.visits); !slices.Equal(got, want) {
					t.Errorf("got  %q\nwant %q", got, want)
				}
			})
		})
	}
}
