package selftest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// start makes a client that remembers something from call to call.
type start func() func(ctx context.Context, h *http.Client, url string) error

// liveCase is a public bug report as a client that has it, and as one that was mended.
type liveCase struct {
	source, contract string
	scenario         string // what it judges, and more of a scenario file
	bad, good        start
	breaks           string // in order of the alphabet
}

func TestPublicCasesLive(t *testing.T) {
	const guard = "breaker: {failures: 10, open: 500ms, probes: 1}\nattempts: {max: 1}\n"
	const outage = "work: {every: 100ms, calls: 450}\nrules:\n  - {name: outage, per: client, when: {window: {for: 1500ms}}, fault: 500}\n"
	for _, c := range []liveCase{
		{"opossum 276: a failed probe leaves the breaker half open", guard, "judges: [circuit-breaker]\n" + outage,
			halfOpen(true, time.Second), halfOpen(false, time.Second), "circuit-breaker"},
		{"OmniRoute 13836: a probe that never ends", guard, "judges: [circuit-breaker, attempt-timeout]\n" + outage +
			"  - {name: probe, per: client, when: {window: {from: 1500ms, for: 500ms}}, fault: hang}\n",
			halfOpen(false, 0), halfOpen(false, time.Second), "attempt-timeout"},
		{"turbomcp 24: that a stream opens counts as success", "attempts: {max: 6}\nbackoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: none}\n",
			"judges: [retry-cap, min-spacing, client-rate]\nrules:\n  - {name: short, fault: truncate}\n",
			stream(true), stream(false), "client-rate min-spacing retry-cap"},
		{"vite-plus 1940: the body is read outside of what is retried", "", "judges: [retries-transient, min-spacing]\nclients: 10\nrules:\n" +
			"  - {name: cut, per: client, when: {first: 1}, fault: truncate}\n",
			download(false), download(true), "retries-transient"},
		{"videoq 477, vaadin-connect 335: the refresh is refreshed", "", "judges: [auth-refresh-once]\nrules:\n  - {name: expired, fault: 401}\n",
			signIn(10), signIn(1), "auth-refresh-once"},
	} {
		t.Run(c.source, func(t *testing.T) {
			if got := c.judge(t, c.bad); strings.Join(got, " ") != c.breaks {
				t.Errorf("as it was it breaks %v, want %s", got, c.breaks)
			}
			if got := c.judge(t, c.good); len(got) > 0 {
				t.Errorf("mended, it breaks %v", got)
			}
		})
	}
}

// judge plays the client in virtual time and lists what it breaks.
func (c liveCase) judge(t *testing.T, client start) (broken []string) {
	t.Helper()
	s, err := scenarios.Load("case.yaml", []byte("name: case\nsummary: A public bug report.\n"+c.scenario))
	if err != nil {
		t.Fatal(err)
	}
	agreed, err := assert.LoadContract("case-contract.yaml", []byte("name: case\n"+c.contract))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r, err := contract.Examine(context.Background(), contract.Request{
			Client: driver.HTTPWorker("case", client), Contract: agreed, Scenarios: []scenarios.Scenario{s}, Memory: true, Seed: 1,
			Limit: 2 * time.Minute, FailOn: assert.Advisory,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Results {
			if x.Verdict == assert.Fail {
				broken = append(broken, x.Clause)
			}
		}
	})
	slices.Sort(broken)
	return broken
}

var errNotNow = errors.New("the breaker is open")

// halfOpen is a client with a breaker: ten failures open it for half a second, then one probe goes through. Stuck forgets to
// open it again when the probe failed; a timeout of 0 lets attempts last for ever.
func halfOpen(stuck bool, timeout time.Duration) start {
	return func() func(context.Context, *http.Client, string) error {
		var failures int
		var probing bool
		var opened time.Time
		return func(ctx context.Context, h *http.Client, url string) error {
			open := failures >= 10
			if probing || open && time.Since(opened) < 500*time.Millisecond {
				return errNotNow
			}
			probing = open
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			if _, err := fetch(ctx, h, url); err != nil {
				failures++
				opened = time.Now()
				probing = open && stuck
				return err
			}
			failures, probing = 0, false
			return nil
		}
	}
}

// stream reads a stream of events and connects again when it ends. Hasty counts as success that it opened.
func stream(hasty bool) start {
	return func() func(context.Context, *http.Client, string) error {
		return func(ctx context.Context, h *http.Client, url string) error {
			began, wait := time.Now(), 100*time.Millisecond
			for attempt := 1; hasty && time.Since(began) < 2*time.Second || !hasty && attempt <= 5; attempt++ {
				if _, err := fetch(ctx, h, url+"/events"); err == nil {
					return nil
				}
				if hasty {
					wait = 18 * time.Millisecond
				}
				time.Sleep(wait)
				wait *= 2
			}
			return io.ErrUnexpectedEOF
		}
	}
}

// download retries what fails before the body; whole is when the body is a part of it.
func download(whole bool) start {
	return func() func(context.Context, *http.Client, string) error {
		return func(ctx context.Context, h *http.Client, url string) error {
			_, err := fetch(ctx, h, url)
			if err == nil || !whole {
				return err
			}
			time.Sleep(200 * time.Millisecond)
			_, err = fetch(ctx, h, url)
			return err
		}
	}
}

// signIn asks for a token when it is told 401, and again when that is answered 401, so often.
func signIn(refreshes int) start {
	return func() func(context.Context, *http.Client, string) error {
		return func(ctx context.Context, h *http.Client, url string) error {
			status, err := fetch(ctx, h, url+"/api")
			for range refreshes {
				if status != http.StatusUnauthorized {
					break
				}
				time.Sleep(90 * time.Millisecond)
				status, err = fetch(ctx, h, url+"/token")
			}
			return err
		}
	}
}

// fetch reads a whole answer; any that is none, or no success, is an error.
func fetch(ctx context.Context, h *http.Client, url string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := h.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode >= 400 {
		err = errors.New(answer.Status)
	}
	return answer.StatusCode, err
}
