package accesslog_test

import (
	"testing"

	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// Programs at one address are told apart, unless it was said what tells clients apart.
func TestProgramsAtOneAddress(t *testing.T) {
	line := func(user, agent string) string {
		return `203.0.113.7 - ` + user + ` [02/Jan/2026:03:04:05 +0000] "GET /orders HTTP/1.1" 404 57 "-" "` + agent + "\"\n"
	}
	log := line("-", "phone/1") + line("-", "laptop/2") + line("-", "phone/1") + line("-", "-") + line("ann", "laptop/2")
	for _, c := range []struct {
		options accesslog.Options
		want    []string
	}{
		{accesslog.Options{}, []string{"203.0.113.7", "203.0.113.7 program 2", "203.0.113.7", "203.0.113.7", "203.0.113.7 ann"}},
		{accesslog.Options{Client: []string{"remote"}}, []string{"203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.7"}},
	} {
		entries, _, err := try(c.options, text("log", log))
		if err != nil || len(entries) != len(c.want) {
			t.Fatal(entries, err)
		}
		for i, want := range c.want {
			if entries[i].Client != want {
				t.Errorf("%v: line %d is by %q, want %q", c.options.Client, i+1, entries[i].Client, want)
			}
		}
	}
}
