package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/scenarios"
)

// with is a whole scenario with its rules in place of the last line.
func with(rules string) string {
	return "name: x\nsummary: It breaks.\njudges: [retry-cap]\nrules:\n" + rules
}

func TestLoadDefaults(t *testing.T) {
	s, err := scenarios.Load("x.yaml", []byte(with("- fault: 503")))
	if err != nil || s.Clients != 0 || s.Limit != 0 || s.Why != "" {
		t.Errorf("got %+v: %v", s, err)
	}
}

func TestLoadWork(t *testing.T) {
	for text, want := range map[string]scenarios.Work{
		"work: {every: 100ms, calls: 200}":           {Every: 100 * time.Millisecond, Calls: 200},
		"work: {every: 1s, for: 2500ms, workers: 3}": {Every: time.Second, For: 2500 * time.Millisecond, Workers: 3},
	} {
		s, err := scenarios.Load("x.yaml", []byte(text+"\nlimit: 1m\n"+with("- fault: 503")))
		if err != nil || s.Work != want || s.Work.IsZero() {
			t.Errorf("%s: got %+v: %v", text, s.Work, err)
		}
	}
	w := scenarios.Work{Every: time.Second, For: 2500 * time.Millisecond}
	if w.Number() != 3 || w.Lasts() != 3*time.Second || (scenarios.Work{}).Number() != 0 {
		t.Errorf("%d calls in %v", w.Number(), w.Lasts())
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":                {"", "x.yaml:1:1: the file is empty"},
		"a list":               {"- a", "x.yaml:1:1: found a sequence; want a mapping with name, summary, why, judges, clients, cancel, limit, work, watch, fleet or rules"},
		"unknown field":        {"judge: [retry-cap]\n" + with("- fault: 503"), `x.yaml:1:1: unknown field "judge"; did you mean judges?`},
		"no name":              {strings.Replace(with("- fault: 503"), "name: x\n", "", 1), `x.yaml:1:1: name: "" is no name for a scenario; want lower-case words with hyphens between, as in 503-burst`},
		"bad name":             {strings.Replace(with("- fault: 503"), "x", "Big Bang", 1), `x.yaml:1:7: name: "Big Bang" is no name for a scenario; want lower-case words with hyphens between, as in 503-burst`},
		"no summary":           {strings.Replace(with("- fault: 503"), "It breaks.", "' '", 1), "x.yaml:2:10: summary: say in one line what happens, as in summary: Two minutes of 503, then healthy."},
		"long summary":         {strings.Replace(with("- fault: 503"), "It breaks.", "|\n  It\n  breaks.", 1), "x.yaml:2:10: summary: has more than one line; the rest belongs into why"},
		"no judges":            {strings.Replace(with("- fault: 503"), "retry-cap", "", 1), "x.yaml:3:9: judges: name the clauses that the scenario puts to the test, as in judges: [retry-cap]"},
		"judges twice":         {strings.Replace(with("- fault: 503"), "retry-cap", "retry-cap, retry-cap", 1), "x.yaml:3:21: judges: retry-cap is listed twice"},
		"judges, no id":        {strings.Replace(with("- fault: 503"), "retry-cap", "Retry Cap", 1), `x.yaml:3:10: judges: "Retry Cap" is no clause id; those are lower-case words with hyphens between, as in retry-cap`},
		"no clients":           {"clients: 0\n" + with("- fault: 503"), "x.yaml:1:10: clients: 0 is out of range; want 1 to 1000"},
		"too many clients":     {"clients: 1001\n" + with("- fault: 503"), "x.yaml:1:10: clients: 1001 is out of range; want 1 to 1000"},
		"negative limit":       {"limit: -1s\n" + with("- fault: 503"), "x.yaml:1:8: limit: -1s is too small; want more than 0s"},
		"cancel at once":       {"cancel: {after: 0s}\n" + with("- fault: 503"), "x.yaml:1:17: after: 0s is too small; want more than 0s"},
		"cancel when":          {"cancel: {}\n" + with("- fault: 503"), "x.yaml:1:9: cancel: say how long after the first request, as in cancel: {after: 200ms}"},
		"cancel, no mapping":   {"cancel: 2s\n" + with("- fault: 503"), "x.yaml:1:9: "},
		"limit without unit":   {"limit: 40\n" + with("- fault: 503"), "x.yaml:1:8: 40 has no unit; write 40s or 40ms"},
		"work without pace":    {"work: {calls: 20}\n" + with("- fault: 503"), "x.yaml:1:7: every: say how far apart calls begin, as in work: {every: 100ms, calls: 200}"},
		"work without end":     {"work: {every: 1s}\n" + with("- fault: 503"), "x.yaml:1:7: one of calls or for is needed"},
		"work with two ends":   {"work: {every: 1s, calls: 5, for: 9s}\n" + with("- fault: 503"), "x.yaml:1:34: calls and for cannot stand together; keep one"},
		"work too fast":        {"work: {every: 1us, calls: 5}\n" + with("- fault: 503"), "x.yaml:1:15: every: 1µs is too short to be kept; want at least 1ms"},
		"one call is no work":  {"work: {every: 1s, calls: 1}\n" + with("- fault: 503"), "x.yaml:1:26: calls: 1 is out of range; want 2 to 100000"},
		"inert: for":           {"work: {every: 1s, for: 1s}\n" + with("- fault: 503"), "x.yaml:1:24: for: 1s is over before a second call begins; want more than 1s (every)"},
		"work without end yet": {"work: {every: 1ms, for: 1h}\n" + with("- fault: 503"), "x.yaml:1:25: for: 1h0m0s means 3600000 calls; want 100000 at most"},
		"no workers":           {"work: {every: 1s, calls: 5, workers: 0}\n" + with("- fault: 503"), "x.yaml:1:38: workers: 0 is too small; want at least 1"},
		"inert: workers":       {"work: {every: 1s, calls: 5, workers: 6}\n" + with("- fault: 503"), "x.yaml:1:38: workers: 6 have nothing to do with 5 calls; want fewer, or leave it out"},
		"limit before the end": {"work: {every: 1s, calls: 5}\nlimit: 5s\n" + with("- fault: 503"), "x.yaml:2:8: limit: 5s leaves no time for the work, whose calls begin over 5s; want more"},
		"work and watch":       {"work: {every: 1s, calls: 5}\nwatch: 5s\n" + with("- fault: 503"), "x.yaml:2:8: watch: is for clients that work by themselves, and work for those that are given calls; keep one"},
		"watched for nothing":  {"watch: 0s\n" + with("- fault: 503"), "x.yaml:1:8: watch: 0s is too small; want more than 0s"},
		"watch and limit":      {"watch: 9s\nlimit: 9s\n" + with("- fault: 503"), "x.yaml:2:8: limit: cannot stand next to watch, which says already when a client is stopped"},
		"no rules":             {with("  []"), "x.yaml:5:3: rules: a scenario without rules disturbs nothing; give it at least one"},
		"unknown rule field":   {with("- fautl: 503"), `x.yaml:5:3: unknown field "fautl"; did you mean fault?`},
		"unknown kind":         {with("- fault: {statsu: {code: 503}}"), `x.yaml:5:11: unknown fault kind "statsu"; did you mean status?`},
		"unknown word":         {with("- fault: rset"), `x.yaml:5:10: unknown fault "rset"; did you mean reset?`},
		"impossible code":      {with("- fault: 999"), "x.yaml:5:10: code: 999 is out of range; want 200 to 599"},
		"unknown schedule":     {with("- when: {frist: 3}\n  fault: 503"), `x.yaml:5:10: unknown schedule "frist"; did you mean first?`},
		"unknown scope":        {with("- per: clients\n  when: {first: 1}\n  fault: 503"), `x.yaml:5:8: `},
		"inert: window":        {with("- when: {window: {for: 0s}}\n  fault: 503"), "x.yaml:5:9: "},
		"inert: first":         {with("- when: {first: 0}\n  fault: 503"), "x.yaml:5:9: "},
		"inert: chance":        {with("- chance: 0\n  fault: 503"), "x.yaml:5:11: "},
		"inert: behind":        {with("- fault: 503\n- fault: 500"), "x.yaml:6:3: "},
		"inert: no fault":      {with("- when: {first: 1}"), "x.yaml:5:3: "},
		"sweep over all":       {with("- per: all\n  sweep: [500, 501]"), "x.yaml:5:8: a sweep gives each call or client a fault of its own"},
		"alias":                {with("- &r {fault: 503}\n- *r"), "x.yaml:5:3: anchors are refused: write the value out where it is used (quote it if text was meant)"},
		"not a scenario, JSON": {`{"name": "x", "rules": {}}`, `x.yaml:1:1: summary: say in one line`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scenarios.Load("x.yaml", []byte(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestLoadTellsEverythingAtOnce(t *testing.T) {
	_, err := scenarios.Load("x.yaml", []byte(`name: x
summry: It breaks.
judges: [retry-cap]
limit: 10
rules:
  - name: a
    fault: {status: {code: 600}}
  - name: b
    chance: 1.5
    fault: {latency: {fixed: 1s, at: afer}}
`))
	want := []string{
		"x.yaml:1:1: summary: say in one line what happens, as in summary: Two minutes of 503, then healthy.",
		`x.yaml:2:1: unknown field "summry"; did you mean summary?`,
		"x.yaml:4:8: 10 has no unit; write 10s or 10ms",
		"x.yaml:7:28: code: 600 is out of range; want 200 to 599",
		`x.yaml:9:13: `,
		`x.yaml:10:38: unknown moment "afer"; did you mean after?`,
	}
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		if i >= len(want) || !strings.HasPrefix(line, want[i]) {
			t.Fatalf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d errors:\n%v", len(lines), err)
	}
}

// FuzzLoad holds the loader to its promise: a scenario that it accepts can be put to use, whatever the file.
func FuzzLoad(f *testing.F) {
	for _, name := range scenarios.Names() {
		data, err := scenarios.Source(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(with("- per: call\n  match: {methods: [POST], path: '/a/{id:[0-9]+}', headers: {X: y}, queries: {q: '{v}'}}\n  steps: [503, pass]")))
	f.Add([]byte(with("- chance: 0.5\n  when: {burst: {on: 2s, every: 10s}}\n  fault: [{latency: {pareto: {scale: 1ms, shape: 2}, max: 1s}}, drip, garbage]")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenarios.Load("x.yaml", data)
		if err != nil {
			return
		}
		if use(s) != nil {
			t.Errorf("a scenario that loads cannot be put to use: %v", use(s))
		}
	})
}
