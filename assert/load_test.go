package assert_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
)

func load(t *testing.T, text string) *assert.Contract {
	t.Helper()
	c, err := assert.LoadContract("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadTakesTheRestFromTheProfile(t *testing.T) {
	c := load(t, "name: mine\n")
	strict := assert.Strict()
	if c.Name != "mine" || c.Profile != "strict" {
		t.Errorf("name %q, profile %q", c.Name, c.Profile)
	}
	if *c.Responses != *strict.Responses || c.Attempts != strict.Attempts || !reflect.DeepEqual(c.Backoff, strict.Backoff) || c.RetryAfter != strict.RetryAfter {
		t.Errorf("a contract that says nothing differs from its profile: %+v", c)
	}

	if c = load(t, "profile: strict\n"); c.Name != "c" {
		t.Errorf("without a name: %q, want the file's", c.Name)
	}

	c = load(t, "attempts: {max: 7}\nbackoff: {max: 9s}\n")
	if c.Attempts != (assert.Attempts{Max: 7, Within: strict.Attempts.Within}) {
		t.Errorf("attempts %+v: only max was written", c.Attempts)
	}
	if c.Backoff.Max != 9*s || c.Backoff.Growth != strict.Backoff.Growth || !c.Backoff.Jitter.Required() {
		t.Errorf("backoff %+v: only max was written", c.Backoff)
	}
}

func TestGrowthOfOneAsksForNone(t *testing.T) {
	constant := fleet(10, 503, func(_, k int) time.Duration { return after(k, s, s, s) })
	c := load(t, "backoff: {growth: 1}\n")
	if got := assert.Judge(c, []string{"backoff-growth"}, assert.Calls(constant, quiet())); got[0].Verdict != assert.Pass {
		t.Errorf("constant waits: %s: %s", got[0].Verdict, got[0].Detail)
	}
	var text strings.Builder
	if err := c.Doc(&text); err != nil || !strings.Contains(text.String(), "Waits need not grow, but do not shrink from retry to retry.") {
		t.Errorf("%v; the document says\n%s", err, text.String())
	}
	load(t, "clauses: {backoff-growth: {min: 1}}\n")
}

// after gives wait k (from 1) of a schedule that ends.
func after(k int, waits ...time.Duration) time.Duration {
	if k > len(waits) {
		return -1
	}
	return waits[k-1]
}

func TestLoadLeavesTheProfileAlone(t *testing.T) {
	load(t, "responses: {503: never}\nlimits: {client-rate: 1/1s}\n")
	if strict := assert.Strict(); strict.Responses.Status(503).Retry != assert.Backoff || len(strict.Limits.ClientRate) != 2 {
		t.Error("a contract changed the profile that it is based on")
	}
	if a := assert.Strict(); a.Responses == assert.Strict().Responses {
		t.Error("two copies of the profile share a table")
	}
}

func TestLoadReadsTheDesignedContract(t *testing.T) {
	c := load(t, `
name: driver-status
profile: strict
responses:
  400-499: never
  401: once-after-refresh
  429: {retry: backoff, retry-after: honour}
  500, 502-504: backoff
  network: backoff
attempts: {max: 4, within: 30s}
backoff: {initial: 1s, multiplier: 2, max: 30s, jitter: {proportional: 0.5}}
retry-after: {max: 120s, longer: give-up}
idempotency: {key-header: Idempotency-Key}
limits: {client-rate: 10/1m, identical-payload: 3/1m, amplification: 4}
`)
	wantBackoff := assert.Delays{Initial: s, Multiplier: 2, Max: 30 * s, Jitter: assert.Jitter{Form: assert.JitterProportional, Proportion: 0.5}}
	if !reflect.DeepEqual(c.Backoff, wantBackoff) {
		t.Errorf("backoff %+v", c.Backoff)
	}
	if c.Backoff.MinGrowth() != 1.5 {
		t.Errorf("a multiplier of 2 demands a growth of %v", c.Backoff.MinGrowth())
	}
	if c.RetryAfter != (assert.RetryAfter{Max: 120 * s, Longer: assert.GiveUp}) || c.Idempotency.KeyHeader != "Idempotency-Key" {
		t.Errorf("%+v %+v", c.RetryAfter, c.Idempotency)
	}
	if len(c.Limits.ClientRate) != 1 || c.Limits.ClientRate[0] != (assert.Rate{N: 10, Per: time.Minute}) || c.Limits.Amplification != 4 {
		t.Errorf("limits %+v", c.Limits)
	}
	for status, want := range map[int]assert.Behaviour{
		400: assert.Never, 401: assert.OnceAfterRefresh, 408: assert.Never, 429: assert.Backoff, 500: assert.Backoff, 501: assert.Never,
	} {
		if got := c.Responses.Status(status).Retry; got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
}

func TestResponsesRows(t *testing.T) {
	for _, test := range []struct {
		name, rows string
		status     int
		want       assert.Response
	}{
		{"the narrower row wins, whatever the order", "{429: backoff, 400-499: never}", 429, assert.Response{Retry: assert.Backoff, Honour: true}},
		{"and so does a narrower range", "{400-499: never, 420-429: once}", 424, assert.Response{Retry: assert.Once}},
		{"a class is a range", "{5xx: never}", 503, assert.Response{Retry: assert.Never, Honour: true}},
		{"a list", "{'500, 502-504': once}", 503, assert.Response{Retry: assert.Once, Honour: true}},
		{"a list leaves out what is between", "{'500, 502-504': once}", 501, assert.Response{Retry: assert.Never}},
		{"Retry-After alone changes nothing else", "{500: {retry-after: honour}}", 500, assert.Response{Retry: assert.Backoff, Honour: true}},
		{"and can be dropped", "{503: {retry-after: ignore}}", 503, assert.Response{Retry: assert.Backoff}},
		{"redirects can wait too", "{3xx: {retry-after: honour}}", 307, assert.Response{Honour: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := load(t, "responses: "+test.rows+"\n").Responses.Status(test.status); got != test.want {
				t.Errorf("%d: %+v, want %+v", test.status, got, test.want)
			}
		})
	}
	c := load(t, "responses: {timeout: once, network: never}\n")
	if c.Responses.Network(assert.NetworkReset).Retry != assert.Never || c.Responses.Network(assert.NetworkTimeout).Retry != assert.Once {
		t.Error("a class of network failure is narrower than network")
	}
	if c = load(t, "responses: {100-199: never, 202: backoff, 599: once}\n"); c.Responses.Status(101).Retry != assert.Never ||
		c.Responses.Status(202).Retry != assert.Backoff || c.Responses.Status(599).Retry != assert.Once {
		t.Error("any status can be given a behaviour")
	}
}

func TestLoadSaysWhereAndWhat(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "c.yaml:1:1"},
		{"unknown section", "attemps: {max: 3}", `c.yaml:1:1: unknown field "attemps"; did you mean attempts?`},
		{"unknown profile", "profile: strikt", `c.yaml:1:10: unknown profile "strikt"; did you mean strict or stripe?`},
		{"unknown behaviour", "responses: {503: bakoff}", `c.yaml:1:18: unknown behaviour "bakoff"; did you mean backoff?`},
		{"unknown key", "responses: {netwrk: never}", `c.yaml:1:13: "netwrk" is no status; want a status (503), a range (500-504), a class (5xx), ` +
			"or one of network, refused, certificate, unprocessed, reset, timeout, truncated, malformed; did you mean network?"},
		{"no such status", "responses: {700: never}", `c.yaml:1:13: "700" reaches outside 100-599`},
		{"a network failure twice", "responses: {timeout: never, 'reset, timeout': once}", "c.yaml:1:29: timeout overlaps timeout in line 1"},
		{"a header of no answer", "responses: {timeout: with-retry-after}", "c.yaml:1:22: timeout: a network failure carries no Retry-After"},
		{"no unlimited", "attempts: {max: unlimitd}", "c.yaml:1:17:"},
		{"no date", "as-of: yesterday", `c.yaml:1:8: "yesterday" is no date; want a month or a day, as in 2026-11 or 2026-11-30`},
		{"a schedule and a wait", "backoff: {initial: 1s, schedule: [5s, 5m]}", "c.yaml:1:20: initial: the schedule in line 1 says every wait; keep one of them"},
		{"no schedule", "backoff: {schedule: []}", "c.yaml:1:21: schedule: 0 waits; want 1 to 100, as in [5s, 5m, 30m, 2h]"},
		{"no wait", "backoff: {schedule: [5s, 0s]}", "c.yaml:1:26: schedule: 0s is no wait; want more than 0s and 30 days at most"},
		{"backwards", "responses: {504-500: never}", `c.yaml:1:13: "504-500" runs backwards; write 500-504`},
		{"twice", "responses:\n  500: never\n  '500, 502': once", "c.yaml:3:3: 500 overlaps 500 in line 2, which is as wide; one of them has to be narrower to win"},
		{"equally wide", "responses:\n  500-509: never\n  505-514: once", "c.yaml:3:3: 505-514 overlaps 500-509 in line 2"},
		{"no table", "responses: never", "c.yaml:1:12: responses: want a mapping from statuses to behaviours"},
		{"unknown choice", "responses: {429: {retry-after: honor}}", `c.yaml:1:32: unknown choice "honor"; did you mean honour?`},
		{"no attempts", "attempts: {max: 0}", "c.yaml:1:17: max: 0 attempts is too few; the first one counts, so 1 means no retry"},
		{"negative bound", "attempts: {within: -3s}", "c.yaml:1:20: within: -3s is negative"},
		{"no unit", "attempts: {within: 30}", "c.yaml:1:20: 30 has no unit; write 30s or 30ms"},
		{"negative wait", "backoff: {initial: -1s}", "c.yaml:1:20: initial: -1s is negative"},
		{"shrinking", "backoff: {multiplier: 0.5}", "c.yaml:1:23: multiplier: 0.5 makes waits shrink; want 1 or more"},
		{"no growth", "backoff: {growth: 0}", "c.yaml:1:19: growth: 0 makes waits shrink; want 1 or more"},
		{"unknown jitter", "backoff: {jitter: ful}", `c.yaml:1:19: unknown jitter "ful"; did you mean full?`},
		{"jitter without size", "backoff: {jitter: proportional}", "c.yaml:1:19: jitter: say how much, as in {proportional: 0.5}"},
		{"too much jitter", "backoff: {jitter: {proportional: 1.5}}", "c.yaml:1:34: proportional: 1.5 is out of range; want 0 to 1"},
		{"two jitters", "backoff: {jitter: {proportional: 0.5, additive: 1s}}", "cannot stand together"},
		{"negative jitter", "backoff: {jitter: {additive: -1s}}", "c.yaml:1:30: additive: -1s is too small; want more than 0s"},
		{"negative Retry-After", "retry-after: {max: -1s}", "c.yaml:1:20: max: -1s is negative"},
		{"unknown way out", "retry-after: {longer: giveup}", `c.yaml:1:23: unknown choice "giveup"; did you mean give-up?`},
		{"bad header", "idempotency: {key-header: 'Idempotency Key'}", `c.yaml:1:27: key-header: "Idempotency Key" is no header name`},
		{"bad route", "idempotency: {safe-routes: [/ok, search]}", `c.yaml:1:34: safe-routes: "search" is no route; want a path or a method and a path, as in POST /search`},
		{"bad rate", "limits: {client-rate: [10/1m, ten/1m]}", `c.yaml:1:31: rate "ten/1m": "ten" is not a positive number; want a number and a length of time, as in 10/1m`},
		{"no rate", "limits: {client-rate: 10}", `c.yaml:1:23: rate "10": want a number and a length of time, as in 10/1m`},
		{"too little", "limits: {amplification: 0.5}", "c.yaml:1:25: amplification: 0.5 is too small; a call needs one request at least"},
		{"too many attempts", "attempts: {max: 4611686018427387904}", "c.yaml:1:17: max: 4611686018427387904 is too much: no run counts so far; want 10000 at most"},
		{"a deadline beyond a year", "attempts: {within: 9000h}", "c.yaml:1:20: within: 9000h is too much: no call takes that long; want 365 days at most"},
		{"too long a wait", "backoff: {initial: 721h}", "c.yaml:1:20: initial: 721h is too much: no client waits that long; want 30 days at most"},
		{"too high a cap", "backoff: {max: 721h}", "c.yaml:1:16: max: 721h is too much"},
		{"too much added", "backoff: {jitter: {additive: 721h}}", "c.yaml:1:30: additive: 721h is too much"},
		{"too steep", "backoff: {multiplier: 1e308}", "c.yaml:1:23: multiplier: 1e308 is too much: the second wait would be the last; want 1000 at most"},
		{"too much growth", "backoff: {growth: 1001}", "c.yaml:1:19: growth: 1001 is too much"},
		{"too long a Retry-After", "retry-after: {max: 721h}", "c.yaml:1:20: max: 721h is too much"},
		{"too much amplification", "limits: {amplification: 4.6e18}", "c.yaml:1:25: amplification: 4.6e18 is too much: no run counts so far; want 1000000 at most"},
		{"too high a rate", "limits: {client-rate: 9000000000/1m}", `c.yaml:1:23: rate "9000000000/1m": no run counts so far; want 1000000000 requests in 365 days at most`},
		{"a template for a route", "idempotency: {safe-routes: ['POST /{']}", `c.yaml:1:29: safe-routes: "POST /{" is no route; want a path or a method and a path, as in POST /search or POST /search/*`},
		{"too short a time", "limits: {client-rate: 5/2ms}", `c.yaml:1:23: rate "5/2ms": clocks alone differ by 2 ms; want 10ms or more`},
		{"no redirect", "clauses: {redirect-bound: {max: 0}}", "c.yaml:1:33: max: 0 is too small; want at least 1"},
		{"no silence", "clauses: {redirect-bound: {quiet: -1s}}", "c.yaml:1:35: quiet: -1s is too small; want at least 0s"},
		{"no time to settle", "clauses: {throttle-scope: {settle: 0s}}", "c.yaml:1:36: settle: 0s is too small; want at least 1ms"},
		{"no patience", "clauses: {retries-transient: {patience: 0s}}", "c.yaml:1:41: patience: 0s is too small; want at least 1ms"},
		{"no failure", "clauses: {retries-transient: {statuses: [503, 200]}}", "c.yaml:1:47: statuses: 200 is no failure; want 400 to 599"},
		{"unknown clause", "clauses: {no-retry-4x: off}", `c.yaml:1:11: unknown clause "no-retry-4x"`},
		{"no clauses", "clauses: off", "c.yaml:1:10: clauses: want a mapping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := assert.LoadContract("c.yaml", []byte(test.text+"\n"))
			if err == nil {
				t.Fatalf("loaded %+v; want an error with %q", c, test.want)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("one mistake, several lines:\n%v", err)
			}
		})
	}
}

func TestLoadFindsAllMistakesAtOnce(t *testing.T) {
	_, err := assert.LoadContract("c.yaml", []byte("profile: x\nattempts: {max: 0}\nbackoff: {initial: 1}\nresponses: {1: never}\nnmae: y\n"))
	if err == nil {
		t.Fatal("no error")
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 5 {
		t.Errorf("%d lines, want 5:\n%v", len(lines), err)
	}
}

func TestProfilesLoadAndAreSound(t *testing.T) {
	for _, p := range assert.Profiles.All() {
		c := p.Contract()
		if c.Profile != p.Name || c.Name != p.Name || p.Summary == "" {
			t.Errorf("profile %s: name %q, profile %q, summary %q", p.Name, c.Name, c.Profile, p.Summary)
		}
		if found := c.Lint(); len(found) > 0 {
			t.Errorf("profile %s contradicts itself: %q", p.Name, found)
		}
	}
}
