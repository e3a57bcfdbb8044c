package assert_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// judge looks up one clause of a contract.
func judge(c *assert.Contract, id string) (assert.Judged, bool) {
	all := c.Judges()
	i := slices.IndexFunc(all, func(j assert.Judged) bool { return j.Kind.ID == id })
	if i < 0 {
		return assert.Judged{}, false
	}
	return all[i], true
}

func TestClausesSection(t *testing.T) {
	capped := func(most int) func(assert.Judged) bool {
		return func(j assert.Judged) bool { return j.Clause.(*assert.RetryCap).Max == most }
	}
	level := func(want assert.Level) func(assert.Judged) bool {
		return func(j assert.Judged) bool { return j.Level == want }
	}
	for _, test := range []struct {
		name, text string
		ok         func(assert.Judged) bool // nil: switched off
	}{
		{"sections set parameters", "attempts: {max: 3}", capped(3)},
		{"the kind sets the level", "name: x", level(assert.Critical)},
		{"a parameter", "clauses: {retry-cap: {max: 9}}", capped(9)},
		{"a parameter goes before its section", "attempts: {max: 3}\nclauses: {retry-cap: {max: 9}}", capped(9)},
		{"a level", "clauses: {retry-cap: {level: advisory}}", level(assert.Advisory)},
		{"a level leaves parameters alone", "clauses: {retry-cap: {level: advisory}}", capped(4)},
		{"both", "clauses: {retry-cap: {level: minor, max: 2}}", func(j assert.Judged) bool { return capped(2)(j) && level(assert.Minor)(j) }},
		{"off", "clauses: {retry-cap: off}", nil},
		{"on changes nothing", "clauses: {retry-cap: on}", capped(4)},
	} {
		t.Run(test.name, func(t *testing.T) {
			j, on := judge(load(t, test.text+"\n"), "retry-cap")
			if on != (test.ok != nil) {
				t.Fatalf("switched on: %v", on)
			}
			if on && !test.ok(j) {
				t.Errorf("got %+v at %v", j.Clause, j.Level)
			}
		})
	}
}

func TestClausesSectionSaysWhereAndWhat(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"misspelt", "clauses:\n  retry-capp: off\n", `c.yaml:2:3: unknown clause "retry-capp"; did you mean retry-cap?`},
		{"misspelt parameter", "clauses:\n  retry-cap: {mux: 3}\n", `c.yaml:2:15: unknown field "mux"; did you mean max?`},
		{"wrong type", "clauses:\n  retry-cap: {max: many}\n", `c.yaml:2:20: found the text "many"; want a whole number such as 3`},
		{"unknown level", "clauses:\n  retry-cap: {level: high}\n", `c.yaml:2:22: unknown level "high"; known: advisory, minor, major, critical`},
		{"neither", "clauses:\n  retry-cap: never\n", `c.yaml:2:14: retry-cap: want off, on, or a mapping such as {level: major}`},
		{"not switched on", "attempts: {max: 1}\nclauses:\n  retries-transient: {share: 0.5}\n",
			`c.yaml:3:22: retries-transient is set here, but nothing in this contract switches it on`},
		{"on alone does not switch it on", "attempts: {max: 1}\nclauses:\n  retries-transient: on\n",
			`c.yaml:3:22: retries-transient is set here, but nothing in this contract switches it on`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := assert.LoadContract("c.yaml", []byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestLintFindsWhatNobodyChecks(t *testing.T) {
	got := load(t, "attempts: {max: 5}\nclauses:\n  retry-cap: off\n").Lint()
	want := []string{"attempts.max (line 1) is agreed, but clauses.retry-cap (line 3) switches off the clause that checks it"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestDerivedLimits(t *testing.T) {
	for _, test := range []struct {
		name, text    string
		payload       string
		amplification float64
	}{
		{"from the default", "name: x", "3/1m", 4},
		{"from more attempts", "attempts: {max: 8}", "7/1m", 8},
		{"from fewer", "attempts: {max: 2}", "3/1m", 2},
		{"unless written", "attempts: {max: 8}\nlimits: {identical-payload: 2/1m, amplification: 1.5}", "2/1m", 1.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := load(t, test.text+"\n")
			var doc strings.Builder
			if err := c.Doc(&doc); err != nil {
				t.Fatal(err)
			}
			rate, _ := assert.ParseRate(test.payload)
			j, _ := judge(c, "identical-payload-rate")
			if got := j.Clause.(*assert.IdenticalPayloadRate).Limit; got != rate {
				t.Errorf("identical payload %v, want %v", got, rate)
			}
			j, _ = judge(c, "amplification-factor")
			if got := j.Clause.(*assert.AmplificationFactor).Max; got != test.amplification {
				t.Errorf("amplification %v, want %v", got, test.amplification)
			}
		})
	}
}

func TestJudgeGivesWhatWasAskedFor(t *testing.T) {
	calls := assert.Calls(fleet(1, 400, func(int, int) time.Duration { return -1 }), quiet())
	ids := func(results []assert.Result) string {
		var words []string
		for _, r := range results {
			words = append(words, r.Clause+" "+r.Verdict.String())
		}
		return strings.Join(words, ", ")
	}
	for _, test := range []struct {
		name string
		ids  []string
		want string
	}{
		{"in the order of the catalogue", []string{"retry-cap", "no-retry-4xx"}, "no-retry-4xx pass, retry-cap not-exercised"},
		{"switched off", []string{"client-rate"}, "client-rate not-exercised"},
		{"unknown", []string{"retry-capp"}, "retry-capp not-exercised"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ids(assert.Judge(load(t, "clauses: {client-rate: off}\n"), test.ids, calls)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if all := assert.Judge(assert.Strict(), nil, calls); len(all) != len(assert.Strict().Judges()) {
		t.Errorf("%d results, want one for each clause", len(all))
	}
}

func TestJudgeTakesBackWhatLostEntriesCouldRefute(t *testing.T) {
	lossy := quiet()
	lossy.Run.Lost = 12
	verdict := func(id string, entries []journal.Entry) assert.Result {
		return assert.Judge(assert.Strict(), []string{id}, assert.Calls(entries, lossy))[0]
	}
	once := history.New().Attempt(0, ms, 400).Entries()
	if r := verdict("no-retry-4xx", once); r.Verdict != assert.Inconclusive || !strings.Contains(r.Detail, "dropped 12 older entries") {
		t.Errorf("an absence on a lossy journal: %v, %s", r.Verdict, r.Detail)
	}
	again := history.New().Retries(0, 400, ms).Entries()
	if r := verdict("no-retry-4xx", again); r.Verdict != assert.Fail {
		t.Errorf("a breach that was seen: %v", r.Verdict)
	}
	retried := history.New().Attempt(0, ms, 503).Attempt(s, ms, 200).Entries()
	if r := verdict("retries-transient", retried); r.Verdict != assert.Pass {
		t.Errorf("a presence that was seen: %v, %s", r.Verdict, r.Detail)
	}
	yes := func(e *journal.Entry) { e.Rare = &journal.Rare{Told: journal.Told{Directive: journal.DirectiveYes}} }
	agreed := load(t, "clauses: {server-directive: on}")
	for id, h := range map[string]*history.Builder{
		"retries-transient":        history.New().Attempt(0, ms, 503),
		"unprocessed-stream-retry": history.New().Cut(0, ms).With(unprocessed),
		"server-directive":         history.New().Attempt(0, ms, 409).With(yes),
	} {
		if r := assert.Judge(agreed, []string{id}, assert.Calls(h.Entries(), lossy))[0]; r.Verdict != assert.Inconclusive {
			t.Errorf("%s: that nothing came, on a lossy journal: %v, %s", id, r.Verdict, r.Detail)
		}
	}
}

func TestStarterIsSound(t *testing.T) {
	c, err := assert.LoadContract("starter.yaml", assert.Init())
	if err != nil {
		t.Fatal(err)
	}
	if found := c.Lint(); len(found) > 0 {
		t.Errorf("the first contract contradicts itself: %q", found)
	}
}
