package interop

import (
	"slices"
	"testing"
	"time"
)

// What a machine that is busy can bring about is looked at again; what only the client can is not.
func TestDoubtful(t *testing.T) {
	c := Client{Wire: []Wire{{On: []Word{"503"}, Requests: Count{3, 3}, Resent: 1, Gaps: []Bound{{time.Second, time.Second}}}}}
	for _, row := range []struct {
		seen     Seen
		doubtful bool
	}{
		{Seen{Requests: 3, Resent: 1, Gaps: []time.Duration{time.Second}}, false},
		{Seen{Requests: 3, Resent: 1, Gaps: []time.Duration{1800 * time.Millisecond}}, true},
		{Seen{Requests: 3, Resent: 1, Gaps: []time.Duration{1800 * time.Millisecond}, Noise: time.Second}, false},
		{Seen{Requests: 3, Resent: 1, Gaps: []time.Duration{500 * time.Millisecond}}, false},
		{Seen{Requests: 3, Gaps: []time.Duration{time.Second}}, true},
		{Seen{Requests: 3, Resent: 2, Gaps: []time.Duration{time.Second}}, false},
		{Seen{Requests: 9, Resent: 1}, false},
	} {
		row.seen.Case = "503"
		if got := c.doubtful([]Seen{row.seen}); (len(got) > 0) != row.doubtful {
			t.Errorf("%+v: looked at again are %v", row.seen, got)
		}
	}
}

func TestReplaced(t *testing.T) {
	first := []Seen{{Case: "400", Requests: 1}, {Case: "503", Requests: 1}, {Case: "503", Requests: 2}, {Case: "reset", Requests: 1}}
	again := []Seen{{Case: "503", Requests: 3}, {Case: "503", Requests: 4}}
	var got []int
	for _, s := range replaced(first, again) {
		got = append(got, s.Requests)
	}
	if want := []int{1, 3, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
