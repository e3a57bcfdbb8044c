package assert_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// special is what some of the examples need besides.
var special = map[string]struct {
	contract  string        // that asks for the clause; the default one does not
	cancelled time.Duration // when the callers did so
}{
	"no-retry-after-cancel":   {cancelled: s},
	"single-flight":           {contract: "name: no hedging"},
	"server-directive":        {contract: "clauses: {server-directive: on}"},
	"strict-rfc-single-retry": {contract: "clauses: {strict-rfc-single-retry: on}"},
	"jitter-range":            {contract: "backoff: {initial: 1s, multiplier: 2, max: 30s, jitter: full}"},
}

// judgeExample checks the clause by calls.
func judgeExample(t *testing.T, id string, calls []assert.Call) assert.Result {
	t.Helper()
	got := assert.Judge(asking(t, id), []string{id}, calls)
	if len(got) != 1 {
		t.Fatalf("%d results", len(got))
	}
	return got[0]
}

// asking is a contract that asks for the clause.
func asking(t *testing.T, id string) *assert.Contract {
	t.Helper()
	if contract := special[id].contract; contract != "" {
		return load(t, contract)
	}
	return everything()
}

// examples are the shortest histories that show each clause of the default contract broken and kept.
var examples = map[string]struct{ broken, kept *history.Builder }{
	"no-retry-after-cancel": {history.New().Left(0, s).Attempt(2*s, ms, 200), history.New().Left(0, s)},
	"no-retry-4xx":          {history.New().Retries(0, 400, 3*ms), history.New().Attempt(0, ms, 400)},
	"attempt-timeout":       {history.New().Left(0, 60*s), history.New().Left(0, 3*s)},
	"auth-refresh-once":     {refreshing(3), refreshing(2)},
	"retry-after-not-late":  {clients(5, func(_ int, h *history.Builder) { h.Attempt(0, 0, 429).RetryAfter("2").Attempt(9*s, ms, 200) }), told("2", 2*s)},
	"attempt-header":        {counted(1, 1), counted(1, 2)},
	"redirect-bound":        {redirecting(22), redirecting(21)},
	"server-directive": {history.New().Attempt(0, ms, 503).With(saying(journal.DirectiveNo, "")).Attempt(s, ms, 200),
		history.New().Attempt(0, ms, 503).With(saying(journal.DirectiveNo, ""))},
	"strict-rfc-single-retry": {resets(2, s), resets(1, s)},
	"jitter-range":            {drawn(20, 1, 0.5, 1), drawn(20, 1, 0, 1)},
	"connection-discipline":   {reusing(7, false), reusing(7, true)},
	"single-flight":           {history.New().Attempt(0, 3*s, 200).Attempt(s, 2*s, 200), history.New().Left(0, 3*s).Attempt(4*s, ms, 200)},
	"special-4xx":             {history.New().Retries(0, 421, s, s), history.New().Retries(0, 421, s)},
	"no-retry-permanent-5xx":  {history.New().Retries(0, 501, s), history.New().Attempt(0, ms, 501)},
	"retries-transient":       {history.New().Attempt(0, ms, 503), history.New().Attempt(0, ms, 503).Attempt(s, ms, 200)},
	"idempotent-only":         {post().Cut(0, ms).Attempt(s, ms, 201), post().Cut(0, ms)},
	"retry-cap":               {history.New().Retries(0, 503, s, s, s, s), history.New().Retries(0, 503, s, s, s)},
	"total-deadline":          {history.New().Attempt(0, ms, 503).Left(30*s, 5*s), history.New().Attempt(0, ms, 503).Left(s, 5*s)},
	"min-spacing":             {history.New().Retries(0, 503, 0, 0, 0), history.New().Retries(0, 503, s, 2*s, 4*s)},
	"backoff-growth":          {alike(5, s, s, s), alike(10, s, 2*s, 4*s)},
	"delay-cap":               {history.New().Retries(0, 503, 2*time.Minute, 2*time.Minute), history.New().Retries(0, 503, s, time.Minute)},
	"jitter-present": {alike(10, s, 2*s, 4*s), clients(10, func(i int, h *history.Builder) {
		h.Retries(0, 503, ns(i)*100*ms, ns(i)*200*ms)
	})},
	"retry-after-delta":      {told("2", s), told("2", 2*s)},
	"retry-after-date":       {told(epoch.Add(2*s).Format(imf), s), told(epoch.Add(2*s).Format(imf), 2*s)},
	"retry-after-sanity":     {told("-5", 0).Client("b").Attempt(0, 0, 429).RetryAfter("-5").Attempt(0, ms, 200).Client("c").Attempt(0, 0, 429).RetryAfter("-5").Attempt(0, ms, 200), told("-5", s)},
	"body-identical":         {post().Attempt(0, ms, 429).Body("").Attempt(s, ms, 201), post().Retries(0, 429, s)},
	"idempotency-key-stable": {post().Key("1").Cut(0, ms).Key("2").Attempt(s, ms, 201), post().Key("1").Cut(0, ms).Attempt(s, ms, 201)},
	"unprocessed-stream-retry": {
		history.New().Cut(0, ms).With(func(e *journal.Entry) { e.Unprocessed = true }),
		history.New().Cut(0, ms).With(func(e *journal.Entry) { e.Unprocessed = true }).Attempt(2*ms, ms, 200),
	},
	"stop-after-success":   {history.New().Retries(0, 200, s), history.New().Attempt(0, ms, 200)},
	"amplification-factor": {history.New().Retries(0, 503, s, s, s, s), history.New().Retries(0, 503, s, s, s)},
	"client-rate":          {history.New().Retries(0, 400, repeat(20, 25*ms)...), history.New().Retries(0, 400, repeat(19, 25*ms)...)},
	"herd-index": {alike(30, s, 2*s, 4*s), clients(30, func(i int, h *history.Builder) {
		h.Retries(0, 503, ns(i)*50*ms, ns(i)*100*ms)
	})},
	"identical-payload-rate": {post().Retries(0, 400, s, s, s, s), post().Retries(0, 400, s, s, s)},
}

const imf = "Mon, 02 Jan 2006 15:04:05 GMT"

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func post() *history.Builder { return history.New().Request("POST", "/orders").Body("one bicycle") }

// alike are n clients that wait exactly the same.
func alike(n int, waits ...time.Duration) *history.Builder {
	return clients(n, func(_ int, h *history.Builder) { h.Retries(0, 503, waits...) })
}

// redirecting is a client that is redirected n times, round in a loop, and follows all but the last.
func redirecting(n int) *history.Builder {
	h := history.New()
	for i := range n {
		path, to := "/a", "/b"
		if i%2 > 0 {
			path, to = to, path
		}
		h.Request("GET", path).Attempt(ns(i)*2*ms, ms, 302).With(func(e *journal.Entry) { e.Rare = &journal.Rare{Told: journal.Told{Location: to}} })
	}
	return h
}

// counted is a client that states these numbers on its attempts.
func counted(claims ...int32) *history.Builder {
	h := history.New()
	for i, claim := range claims {
		h.Attempt(ns(i)*s, ms, 503).With(func(e *journal.Entry) { e.Claim = claim })
	}
	return h
}

// told is a client that is told to wait, and comes back after wait.
func told(value string, wait time.Duration) *history.Builder {
	return history.New().Attempt(0, 0, 429).RetryAfter(value).Attempt(wait, ms, 200)
}

func TestEveryClauseHasAnExample(t *testing.T) {
	ids := assert.Kinds.Names()
	for id := range examples {
		if !slices.Contains(ids, id) {
			t.Errorf("an example for %s, which is no clause", id)
		}
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			example, ok := examples[id]
			group := grouped
			if w, works := working[id]; works {
				example, ok = w, true
				group = func(h *history.Builder, run *assert.Run) []assert.Call {
					return assert.Calls(h.Entries(), assert.Key{Run: run})
				}
			}
			if !ok {
				t.Fatal("no example of a history that breaks it and one that keeps it")
			}
			for want, h := range map[assert.Verdict]*history.Builder{assert.Fail: example.broken, assert.Pass: example.kept} {
				calls := group(h, &assert.Run{Ended: true, Began: epoch, Noise: calm, Cancelled: special[id].cancelled})
				if got := judgeExample(t, id, calls); got.Verdict != want {
					t.Errorf("want %s, got %+v", want, got)
				}
			}
			if none := judgeExample(t, id, nil); none.Verdict != assert.NotExercised || none.Detail == "" {
				t.Errorf("a history without requests: %s, %q", none.Verdict, none.Detail)
			}
		})
	}
}

func TestEveryClauseIsExplained(t *testing.T) {
	dated := regexp.MustCompile(`\b(19|20)\d\d\b|incident`)
	for _, k := range assert.Kinds.All() {
		t.Run(k.ID, func(t *testing.T) {
			for name, text := range map[string]string{
				"Summary": k.Summary, "Measure": k.Measure, "Why": k.Why, "Fix": k.Fix, "Source": k.Source,
			} {
				if strings.TrimSpace(text) != text || len(text) < 20 || strings.Contains(text, "\n") || strings.Contains(text, "  ") {
					t.Errorf("%s: %q", name, text)
				}
			}
			if len(k.Summary) > 160 || !strings.HasSuffix(k.Summary, ".") {
				t.Errorf("the summary is one short sentence, not %q", k.Summary)
			}
			if !dated.MatchString(k.Source) {
				t.Errorf("a source without a date: %q", k.Source)
			}
			for _, p := range k.Parameters() {
				own := !strings.Contains(p.Name, ".")
				if len(p.Doc) < 20 || own && !strings.Contains(p.Doc, "default") {
					t.Errorf("%s: what is it, and what is its default? %q", p.Name, p.Doc)
				}
			}
			if k.Samples.Calls < 1 {
				t.Error("how many calls does it need?")
			}
			level := k.Level
			if own := assert.Strict().Clauses[k.ID].Level; own != nil {
				level = *own
			}
			judged := func(j assert.Judged) bool { return j.Kind.ID == k.ID && j.Clause.ID() == k.ID && j.Level == level }
			onDemand := special[k.ID].contract != "" && k.ID != "single-flight" || slices.Contains(agreedOnly, k.ID)
			if slices.ContainsFunc(assert.Strict().Judges(), judged) == onDemand {
				t.Errorf("the default contract asks for it: %v", onDemand)
			}
			if !slices.ContainsFunc(asking(t, k.ID).Judges(), judged) {
				t.Error("no contract asks for it")
			}
		})
	}
}

// agreedOnly are the clauses that a contract has to agree on by a section of their own.
var agreedOnly = []string{"circuit-breaker", "hedge-bounded", "poll-cadence", "retry-budget-ratio"}

// A contract switches a clause off by saying nothing about its subject.
func TestContractsSwitchClausesOff(t *testing.T) {
	silent := &assert.Contract{Responses: assert.StrictResponses()}
	var off []string
	for _, k := range assert.Kinds.All() {
		if k.New(silent) == nil {
			off = append(off, k.ID)
		}
	}
	want := []string{
		"amplification-factor", "backoff-growth", "circuit-breaker", "client-rate", "delay-cap", "hedge-bounded", "herd-index",
		"identical-payload-rate", "jitter-present", "jitter-range", "poll-cadence", "retry-budget-ratio", "retry-cap", "total-deadline",
	}
	if !slices.Equal(off, want) {
		t.Errorf("off: %v", off)
	}
	never := assert.Strict()
	never.Attempts.Max = 1
	if kind, _ := assert.Kinds.Get("retries-transient"); kind.New(never) != nil {
		t.Error("a contract without retries asks for them")
	}
}

// The agreed backoff decides which single wait is too short.
func TestContractsSetTheFloor(t *testing.T) {
	for _, tt := range []struct {
		jitter assert.Jitter
		want   time.Duration
	}{
		{assert.Jitter{Form: assert.JitterNone}, s},
		{assert.Jitter{Form: assert.JitterEqual}, s / 2},
		{assert.Jitter{Form: assert.JitterProportional, Proportion: 0.2}, 800 * ms},
		{assert.Jitter{Form: assert.JitterFull}, 0},
		{assert.Jitter{Form: assert.JitterAny}, 0},
	} {
		c := &assert.Contract{Backoff: assert.Delays{Initial: s, Jitter: tt.jitter}}
		kind, _ := assert.Kinds.Get("min-spacing")
		if got := kind.New(c).(*assert.MinSpacing); got.Min != tt.want || got.Base != s {
			t.Errorf("%v: no wait below %v (base %v), want %v", tt.jitter, got.Min, got.Base, tt.want)
		}
	}
}

// Check must give the same result twice and leave the calls alone.
func TestClausesArePure(t *testing.T) {
	for id, example := range examples {
		run := &assert.Run{Ended: true, Began: epoch, Noise: calm, Cancelled: special[id].cancelled}
		calls, contract := grouped(example.broken, run), asking(t, id)
		first := assert.Judge(contract, []string{id}, calls)[0]
		second := assert.Judge(contract, []string{id}, calls)[0]
		if first.Detail != second.Detail || !slices.Equal(first.Witness, second.Witness) {
			t.Errorf("%s: first %q, then %q", id, first.Detail, second.Detail)
		}
		if !slices.EqualFunc(calls, grouped(example.broken, run), func(a, b assert.Call) bool { return slices.Equal(a.Attempts, b.Attempts) }) {
			t.Errorf("%s changed the calls", id)
		}
	}
}

// Whatever a journal holds, every clause answers, and every fail shows what it saw.
func TestClausesSurviveAnyHistory(t *testing.T) {
	statuses := []int{0, 200, 204, 302, 400, 401, 408, 409, 413, 417, 425, 429, 500, 501, 503, 509}
	told := []string{"", "", "", "0", "1", "-5", "soon", "99999999999999999999", epoch.Format(imf), epoch.Add(time.Hour).Format(imf)}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		entries := make([]journal.Entry, r.IntN(60))
		at := time.Duration(0)
		for i := range entries {
			at += time.Duration(r.ExpFloat64() * float64(s) * math.Pow(10, float64(r.IntN(4)-3)))
			e := journal.Entry{
				Seq: uint64(i + 1), At: at, Took: time.Duration(r.ExpFloat64() * float64(100*ms)), Client: string(rune('a' + r.IntN(3))),
				Method: []string{"GET", "POST", "PUT"}[r.IntN(3)], Path: "/" + string(rune('a'+r.IntN(2))), Status: statuses[r.IntN(len(statuses))],
				RetryAfter: told[r.IntN(len(told))], Auth: uint64(r.IntN(2)), BodySum: uint64(r.IntN(3)), BodyLen: int64(r.IntN(3)),
				BodyWhole: r.IntN(4) > 0, Cut: r.IntN(5) == 0, Open: r.IntN(20) == 0, Conn: uint64(r.IntN(9)),
				Key: []string{"", "", "k"}[r.IntN(3)], Call: []string{"", "", "c"}[r.IntN(3)],
			}
			if r.IntN(10) == 0 {
				e.Gone = e.At + time.Duration(r.Int64N(int64(s)))
			}
			entries[i] = e
		}
		run := &assert.Run{Ended: r.IntN(2) == 0, Until: at, Noise: calm}
		if r.IntN(2) == 0 {
			run.Began = epoch
		}
		calls := assert.Calls(entries, assert.Key{OneCall: r.IntN(2) == 0, Run: run})
		for _, got := range assert.Judge(everything(), nil, calls) {
			if got.Detail == "" || (got.Verdict == assert.Fail) != (len(got.Witness) > 0) {
				t.Errorf("seed %d: %s %s with %d witnesses: %q", seed, got.Clause, got.Verdict, len(got.Witness), got.Detail)
			}
		}
	}
}
