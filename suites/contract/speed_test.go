package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// Of a process with many threads nobody knows whether all of them keep to a faster clock.
func TestSharedWorkersTakeRealTime(t *testing.T) {
	s := &session{Request: Request{Client: driver.CommandShared("worker"), Speed: Auto}}
	if p, err := s.pace(); err != nil || !slices.Equal(p.speeds, []int{1}) || !strings.Contains(p.note, "real time") {
		t.Errorf("speeds %v, %q: %v", p.speeds, p.note, err)
	}
}

// One scenario is its own trial, if slower clocks are looked at for it; more than one have a trial before them.
func TestOneScenarioIsItsOwnTrial(t *testing.T) {
	for name, c := range map[string]struct {
		scenarios []string
		speed     int
		want      string
	}{
		"one":           {[]string{"503-burst"}, Auto, "503-burst"},
		"two":           {[]string{"503-burst", "503-large-body"}, Auto, ""},
		"a fixed speed": {[]string{"503-burst"}, 20, ""},
		"in real time":  {[]string{"herd"}, Auto, ""},
		"without waits": {[]string{"gone"}, Auto, ""},
	} {
		req := Request{Client: driver.Command("sh"), Speed: c.speed}
		for _, name := range c.scenarios {
			sc, err := scenarios.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			req.Scenarios = append(req.Scenarios, sc)
		}
		s, err := newSession(req)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r := s.alone(); r != nil {
			got = r.scenario.Name
		}
		if got != c.want {
			t.Errorf("%s: %q alone, want %q", name, got, c.want)
		}
	}
}

// What goes by the machine's clock in any case: work, polls, crowds and servers that change often, and nothing else.
func TestScenariosInRealTime(t *testing.T) {
	var got []string
	for _, sc := range scenarios.All() {
		if unhurried(sc) && sc.Work.IsZero() && sc.Watch == 0 {
			got = append(got, sc.Name)
		}
	}
	if want := []string{"flapping", "herd", "overload"}; !slices.Equal(got, want) {
		t.Errorf("in real time %q, want %q", got, want)
	}
	for _, name := range []string{"outage-and-recovery", "poll"} {
		if sc, err := scenarios.Get(name); err != nil || !unhurried(sc) {
			t.Errorf("%s is hurried: %v", name, err)
		}
	}
	for spans, want := range map[string]bool{"{flap: {down: 1m, up: 10s}}": false, "{burst: {on: 1m, every: 61s}}": true, "{window: {for: 1s}}": false} {
		sc, err := scenarios.Load("s.yaml", []byte("name: s\nsummary: S.\njudges: [retry-cap]\nrules:\n  - when: "+spans+"\n    fault: {status: {code: 503}}\n"))
		if err != nil || unhurried(sc) != want {
			t.Errorf("%s: in real time %v, want %v (%v)", spans, unhurried(sc), want, err)
		}
	}
	if sc, err := scenarios.Get("503-burst"); err != nil || unhurried(sc) {
		t.Errorf("503-burst is not hurried: %v", err)
	}
}
