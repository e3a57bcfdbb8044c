package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver/registry"
)

func TestRegistry(t *testing.T) {
	r := registry.New[int]("fault kind")
	r.Add("reset", 2)
	r.Add("hang", 1)
	if got := r.Names(); !slices.Equal(got, []string{"hang", "reset"}) {
		t.Errorf("names %v", got)
	}
	if got := r.All(); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("all %v", got)
	}
	if v, err := r.Get("reset"); v != 2 || err != nil {
		t.Errorf("reset is %v, %v", v, err)
	}
	if r.Has("rest") || !r.Has("hang") {
		t.Error("Has is wrong")
	}
	if _, err := r.Get("rest"); fmt.Sprint(err) != `unknown fault kind "rest"; did you mean reset?` {
		t.Errorf("a typo: %v", err)
	}
	if _, err := r.Get("teapot"); fmt.Sprint(err) != `unknown fault kind "teapot"; known: hang, reset` {
		t.Errorf("a stranger: %v", err)
	}
}

func TestAddRefuses(t *testing.T) {
	for name, want := range map[string]string{"": "without a name", "hang": "registered twice"} {
		t.Run(want, func(t *testing.T) {
			r := registry.New[int]("fault kind")
			r.Add("hang", 1)
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) {
					t.Errorf("panic: %s", p)
				}
			}()
			r.Add(name, 2)
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"backoff-growth", "jitter-present", "no-retry-4xx", "no-retry-permanent-5xx", "retry-cap"}
	for _, test := range []struct {
		name, typed string
		want        []string
	}{
		{"a letter missing", "retry-ca", []string{"retry-cap"}},
		{"two swapped", "rerty-cap", []string{"retry-cap"}},
		{"another case", "Retry-Cap", []string{"retry-cap"}},
		{"a beginning fits all that start so", "no-retry", []string{"no-retry-4xx", "no-retry-permanent-5xx"}},
		{"far from everything", "throughput", nil},
		{"nothing", "", nil},
		{"absurdly long", strings.Repeat("retry-cap", 100), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := registry.Nearest(test.typed, known); !slices.Equal(got, test.want) {
				t.Errorf("near %q: %v, want %v", test.typed, got, test.want)
			}
		})
	}
	if got := registry.Suggest("x", nil); got != "" {
		t.Errorf("suggestion from nothing: %q", got)
	}
}
