package selftest

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/clients"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// outage is nothing but 503, for twenty clients.
const outage = `
name: outage
summary: Every request is answered 503.
why: What a client does when nothing works is its whole policy.
judges: [min-spacing]
clients: 20
rules:
  - name: outage
    fault: {status: {code: 503}}
`

// policyOf runs a client through the outage in virtual time, to its own end, and infers its policy.
func policyOf(t *testing.T, call func(ctx context.Context, h *http.Client, url string) error) infer.Policy {
	t.Helper()
	s, err := scenarios.Load("outage.yaml", []byte(outage))
	if err != nil {
		t.Fatal(err)
	}
	return assert.Inferred(watch(t, s, driver.HTTPFunc("client", call)))
}

// watch runs a client through a scenario in virtual time, until it ends by itself or sends a thousand requests.
func watch(t *testing.T, s scenarios.Scenario, c driver.Client) (calls []assert.Call) {
	synctest.Test(t, func(t *testing.T) {
		out, err := driver.Run(t.Context(), s, c, driver.Options{Memory: true, Seed: 1, Enough: -1, StormLimit: 1000, Limit: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range out.Ends {
			out.Run.Ended = out.Run.Ended && end.Stopped == ""
		}
		calls = assert.Calls(out.History.Entries, assert.Key{OneCall: true, Run: &out.Run})
	})
	return calls
}

// one makes one attempt and turns a bad status into an error.
func one(ctx context.Context, h *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
	if err != nil {
		return err
	}
	answer, err := h.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode >= 400 {
		return errors.New(answer.Status)
	}
	return nil
}

// retrying is cenkalti/backoff with a policy of its own.
func retrying(policy func() backoff.BackOff, options ...backoff.RetryOption) func(context.Context, *http.Client, string) error {
	return func(ctx context.Context, h *http.Client, url string) error {
		_, err := backoff.Retry(ctx, func() (int, error) { return 0, one(ctx, h, url) }, append(options, backoff.WithBackOff(policy()))...)
		return err
	}
}

func growing(initial, limit time.Duration, factor, spread float64) func() backoff.BackOff {
	return func() backoff.BackOff {
		return &backoff.ExponentialBackOff{InitialInterval: initial, Multiplier: factor, MaxInterval: limit, RandomizationFactor: spread}
	}
}

// retryable is go-retryablehttp with other waits.
func retryable(least, most time.Duration, retries int, waits retryablehttp.Backoff) func(context.Context, *http.Client, string) error {
	return func(ctx context.Context, h *http.Client, url string) error {
		c := retryablehttp.NewClient()
		c.HTTPClient, c.Logger = h, nil
		c.RetryWaitMin, c.RetryWaitMax, c.RetryMax, c.Backoff = least, most, retries, waits
		request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
		if err != nil {
			return err
		}
		answer, err := c.Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
}

// The policies of libraries that nobody here wrote, from twenty calls in virtual time: family, base, multiplier and maximum
// within 5 %, the kind of jitter right.
func TestPoliciesOfLibraries(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, test := range []struct {
		name       string
		call       func(context.Context, *http.Client, string) error
		attempts   int // 0: as many as fit into 15 min
		family     string
		multiplier float64
		initial    float64 // ms
		limit      float64 // ms; 0: none
		jitter     infer.JitterKind
		proportion float64
	}{
		{"go-retryablehttp", hashicorp, 5, "exponential", 2, 1000, 0, infer.JitterNone, 0},
		{"go-retryablehttp to its maximum", retryable(s, 5*s, 7, retryablehttp.DefaultBackoff), 8, "exponential", 2, 1000, 5000, infer.JitterNone, 0},
		{"go-retryablehttp, linear", retryable(200*ms, 200*ms, 5, retryablehttp.LinearJitterBackoff), 6, "linear", 0, 200, 0, infer.JitterNone, 0},
		{"backoff, its defaults", retrying(growing(500*ms, time.Minute, 1.5, 0.5)), 0, "exponential", 1.5, 500, 60_000, infer.JitterProportional, 0.5},
		{"backoff, gently", retrying(growing(s, 20*s, 2, 0.2), backoff.WithMaxTries(9)), 9, "exponential", 2, 1000, 20_000, infer.JitterProportional, 0.2},
		{"backoff, as gRPC connects", retrying(growing(s, 2*time.Minute, 1.6, 0.2), backoff.WithMaxTries(8)), 8, "exponential", 1.6, 1000, 0, infer.JitterProportional, 0.2},
		{"backoff, constant", retrying(func() backoff.BackOff { return backoff.NewConstantBackOff(3 * s) }, backoff.WithMaxTries(5)), 5, "constant", 0, 3000, 0, infer.JitterNone, 0},
		{"backoff, none", retrying(func() backoff.BackOff { return &backoff.ZeroBackOff{} }, backoff.WithMaxTries(5)), 5, "immediate", 0, 0, 0, infer.JitterNone, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := policyOf(t, test.call)
			near := func(what string, got, want float64) {
				if math.Abs(got-want) > 0.05*want {
					t.Errorf("%s: %v, want %v", what, got, want)
				}
			}
			b := p.Backoff
			if b.Growth.Family != test.family || b.Jitter.Kind != test.jitter {
				t.Fatalf("%s with jitter %s, want %s with %s\n%s\n%+v", b.Growth.Family, b.Jitter.Kind, test.family, test.jitter, p.Sentence(), b)
			}
			near("multiplier", b.Growth.Multiplier, test.multiplier)
			near("initial backoff", b.Initial.Value, test.initial)
			near("proportion", b.Jitter.Proportion, test.proportion)
			if test.limit == 0 && b.Max != nil {
				t.Errorf("a maximum of %v is seen, there is none", *b.Max)
			} else if test.limit > 0 {
				near("maximum", b.Max.Value, test.limit)
			}
			switch a := p.Attempts; {
			case test.attempts == 0:
				if a.Within == nil || a.Within.Low > 900_000 || a.Within.High < 900_000 {
					t.Errorf("attempts %+v, within %+v; want 15 min", a, a.Within)
				}
			case a.Max != test.attempts || !a.Decided:
				t.Errorf("attempts %+v, want %d", a, test.attempts)
			}
			if !strings.Contains(p.Sentence(), "retries 503") {
				t.Error(p.Sentence())
			}
		})
	}
}

// Few retries leave the family open, with the right one among what remains.
func TestFewRetriesLeaveTheFamilyOpen(t *testing.T) {
	g := policyOf(t, retryable(time.Second, time.Minute, 2, retryablehttp.DefaultBackoff)).Backoff.Growth
	if g.Decided || len(g.Candidates) == 0 || g.Candidates[0].Name != "exponential" || g.Needs == "" {
		t.Errorf("%+v", g)
	}
}

// Reference clients: what they are built to do is what is seen.
func TestPoliciesOfReferenceClients(t *testing.T) {
	for name, want := range map[string][2]string{
		"polite-get":    {"", "full"},
		"polite-linear": {"", ""},
		"no-wait":       {"immediate", "none"},
		"constant-wait": {"constant", ""},
		"never-retries": {"undecided", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := clients.All.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			p := policyOf(t, c.Call)
			if want[0] != "" && p.Backoff.Growth.Family != want[0] || want[1] != "" && string(p.Backoff.Jitter.Kind) != want[1] {
				t.Errorf("%s\n%+v", p.Sentence(), p.Backoff)
			}
		})
	}
}

// What is inferred becomes a contract, and the client that it was inferred from keeps it in every scenario.
func TestInferredContractsAreKept(t *testing.T) {
	watched := []string{"503-burst", "4xx-sweep", "5xx-sweep", "429-retry-after-seconds", "reset-storm", "fail-then-succeed"}
	for name, call := range map[string]func(context.Context, *http.Client, string) error{
		"go-retryablehttp":   hashicorp,
		"backoff, gently":    retrying(growing(time.Second, 20*time.Second, 2, 0.2), backoff.WithMaxTries(4)),
		"polite":             reference(t, "polite-get"),
		"polite, linear":     reference(t, "polite-linear"),
		"polite, equal":      reference(t, "polite-equal-jitter"),
		"polite, Fibonacci":  reference(t, "polite-fibonacci"),
		"without waits":      reference(t, "no-wait"),
		"with constant wait": reference(t, "constant-wait"),
		"loops on 400":       reference(t, "loops-on-400"),
		"never retries":      reference(t, "never-retries"),
	} {
		t.Run(name, func(t *testing.T) {
			client := driver.HTTPFunc("client", call)
			var calls []assert.Call
			for _, scenario := range watched {
				s, err := scenarios.Get(scenario)
				if err != nil {
					t.Fatal(err)
				}
				calls = append(calls, watch(t, s, client)...)
			}
			text, err := assert.InferredContract("seen", assert.Inferred(calls), calls)
			if err != nil {
				t.Fatal(err)
			}
			c, err := assert.LoadContract("seen.yaml", text)
			if err != nil || len(c.Lint()) > 0 {
				t.Fatalf("%v %v\n%s", err, c.Lint(), text)
			}
			r, err := contract.Examine(t.Context(), contract.Request{
				Client: client, Contract: c, Seed: 2, FailOn: assert.Advisory,
				Bubble: func(run func()) { synctest.Test(t, func(*testing.T) { run() }) },
			})
			if err != nil || len(r.Errors) > 0 {
				t.Fatal(err, r.Errors)
			}
			for _, res := range r.Results {
				if res.Verdict == assert.Fail {
					t.Errorf("%s breaks %s: %s\n%s", res.Scenario, res.Clause, res.Detail, text)
				}
			}
		})
	}
}

func reference(t *testing.T, name string) func(context.Context, *http.Client, string) error {
	t.Helper()
	c, err := clients.All.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, h *http.Client, url string) error { return c.New()(ctx, h, url) }
}
