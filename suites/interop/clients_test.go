package interop

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/suites/driver"
)

var whole = flag.Bool("whole", false, "have the contract judge clients of every language, which takes minutes for each of them")

// everyRun are clients that the contract judges in each run of the tests, at little cost: between them they break most
// clauses, and what the one breaks the other keeps.
var everyRun = []string{"curl/retry", "curl/retry-all"}

// Every client of a language that is at hand does on the wire what its source says. The contract judges a few, and under
// -whole all.
func TestClients(t *testing.T) {
	t.Parallel()
	others := func(l Language) bool { return len(l.Judge) == 0 } // those have tests of their own
	eachClient(t, others, func(t *testing.T, l Language, c Client) {
		began := time.Now()
		driven := func(method string) driver.Client { return l.Driver(c, method) }
		exam := Exam{Cases: Cases(), Worker: l.Worker(c), Whole: *whole || slices.Contains(everyRun, l.ID+"/"+c.ID)}
		if l.Slow && !*whole && !*long {
			exam.Cases = slices.DeleteFunc(slices.Clone(exam.Cases), func(k Case) bool { return !k.Brief })
		}
		r, err := c.Examine(t.Context(), driven, exam)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Differences {
			t.Error(d)
		}
		if t.Failed() && r.Report != nil {
			t.Log(text(*r.Report))
		}
		t.Logf("%s %s: %s; %v", c.Title(), r.Version, r.Policy, time.Since(began).Round(time.Second))
	})
}

// One process that makes the calls of three clients sends for each what a process for it alone does.
func TestWorkers(t *testing.T) {
	t.Parallel()
	missing, err := CaseOf("404")
	if err != nil {
		t.Fatal(err)
	}
	missing.Clients = 3
	serves := func(l Language) bool { return len(l.Serve) > 0 }
	eachClient(t, serves, func(t *testing.T, l Language, c Client) {
		all, _, err := Probe(t.Context(), func(string) driver.Client { return l.Worker(c) }, []Case{missing}, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range all {
			all[i].Gaps = nil // waits may be long where so much goes on
			if s.Stopped && c.expected("404").Requests == (Count{1, 1}) {
				t.Error("the worker does not say when a call has ended")
			}
		}
		for _, d := range c.Differ(all) {
			t.Error(d)
		}
	})
}

// eachClient runs a test for each client of some languages, side by side. A language that is not at hand is skipped.
func eachClient(t *testing.T, of func(Language) bool, test func(*testing.T, Language, Client)) {
	for _, l := range languages(t) {
		if !of(l) {
			continue
		}
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			if why := l.Missing() + l.Unfetched(); why != "" {
				t.Skip(why)
			}
			for _, c := range l.Clients {
				t.Run(c.ID, func(t *testing.T) {
					t.Parallel()
					test(t, l, c)
				})
			}
		})
	}
}

func languages(t *testing.T) []Language {
	t.Helper()
	all, err := Languages(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no languages")
	}
	return all
}

// What is pinned is what was read, and no lock says where from, which would be a host of one machine.
func TestPins(t *testing.T) {
	for _, l := range languages(t) {
		for _, problem := range l.Unpinned() {
			t.Errorf("%s: %s", l.ID, problem)
		}
		if len(l.Fetch) > 0 && len(l.Locks) == 0 {
			t.Errorf("%s fetches packages and locks none", l.ID)
		}
	}
}

func text(r report.Report) string {
	var b strings.Builder
	if f, err := report.Formats.Get("text"); err == nil {
		_ = f.Write(&b, r, report.Style{})
	}
	return b.String()
}

func TestCount(t *testing.T) {
	for _, row := range []struct {
		text    string
		n       int
		stopped bool
		holds   bool
	}{
		{"5", 5, false, true}, {"5", 4, false, false}, {"5", 4, true, true}, {"5", 6, true, false},
		{"3-5", 2, false, false}, {"3-5", 4, false, true}, {"3-5", 6, false, false},
		{"50+", 49, false, false}, {"50+", 400, false, true},
	} {
		var c Count
		if err := c.UnmarshalText([]byte(row.text)); err != nil || c.String() != row.text {
			t.Errorf("%s is read as %s: %v", row.text, c, err)
		}
		if c.Holds(row.n, row.stopped) != row.holds {
			t.Errorf("%s holds %d, stopped %v: %v", row.text, row.n, row.stopped, !row.holds)
		}
	}
	for _, text := range []string{"", "0", "x", "5-3", "5-", "-5"} {
		if err := new(Count).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a count", text)
		}
	}
}

func TestBound(t *testing.T) {
	for _, row := range []struct {
		text        string
		wait, noise time.Duration
		holds       bool
	}{
		{"1s", time.Second, 0, true}, {"1s", 998 * time.Millisecond, 0, false}, {"1s", 1100 * time.Millisecond, 0, false},
		{"1s", 998 * time.Millisecond, time.Millisecond, true}, {"1s", 990 * time.Millisecond, time.Millisecond, false},
		{"1s", 1100 * time.Millisecond, time.Millisecond, true}, {"1s", 1400 * time.Millisecond, time.Millisecond, false},
		{"1s", 1400 * time.Millisecond, 100 * time.Millisecond, true}, {"250ms-750ms", 500 * time.Millisecond, 0, true},
		{"250ms-750ms", 752 * time.Millisecond, 0, false}, {"0s", 0, 0, true},
	} {
		var b Bound
		if err := b.UnmarshalText([]byte(row.text)); err != nil || b.String() != row.text {
			t.Errorf("%s is read as %s: %v", row.text, b, err)
		}
		if b.Holds(row.wait, row.noise) != row.holds {
			t.Errorf("%s holds %v with noise of %v: %v", row.text, row.wait, row.noise, !row.holds)
		}
	}
	for _, text := range []string{"", "1", "2s-1s", "-1s", "1s-"} {
		if err := new(Bound).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a bound", text)
		}
	}
}

// A client that does something else than expected is told so, in each way.
func TestDiffer(t *testing.T) {
	c := Client{Wire: []Wire{{On: []Word{"503"}, Requests: Count{3, 3}, Gaps: []Bound{{time.Second, time.Second}, {2 * time.Second, 2 * time.Second}}}}}
	for _, row := range []struct {
		seen Seen
		want []string
	}{
		{Seen{Requests: 3, Gaps: []time.Duration{time.Second, 2 * time.Second}}, nil},
		{Seen{Requests: 4, Gaps: []time.Duration{time.Second, 2 * time.Second, time.Second}}, []string{"503: 4 requests, expected 3"}},
		{Seen{Requests: 3, Gaps: []time.Duration{time.Second, time.Second}}, []string{"503: wait 2 is 1s, expected 2s"}},
		{Seen{Requests: 3, Resent: 1, Gaps: []time.Duration{time.Second}}, []string{"503: the transport sent 1 again, expected 0"}},
	} {
		row.seen.Case = "503"
		if got := c.Differ([]Seen{row.seen}); !slices.Equal(got, row.want) {
			t.Errorf("%+v: %q, want %q", row.seen, got, row.want)
		}
	}
}
