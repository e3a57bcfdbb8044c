package selftest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// The model of a retry storm, at a tenth of the times of the incident: two hundred senders that want 20 calls a second
// between them, a server that bears 40, and a vendor's half a second between attempts that wait a second at most.
const (
	senders = 200
	load    = 0.5 // of the server, while all is well
	timeout = time.Second
	pause   = 500 * time.Millisecond
)

// storm lets the senders go through an outage and watches them for another minute.
func storm(t *testing.T, outage time.Duration, start func() sender) *driver.Outcome {
	t.Helper()
	s, err := scenarios.Load("storm.yaml", []byte(`name: storm
summary: An outage, then a server that bears twice the normal traffic.
judges: [recovery-drain]
clients: 200
work: {every: 10s, for: 60s}
rules:
  - name: outage
    when: {window: {from: 10s, for: `+outage.String()+`}}
    fault: 503
  - name: capacity
    fault: {capacity: {rate: 40}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var out *driver.Outcome
	synctest.Test(t, func(t *testing.T) {
		client := driver.HTTPWorker("sender", func() func(context.Context, *http.Client, string) error { return start().call })
		out, err = driver.Run(t.Context(), s, client, driver.Options{Memory: true, StormLimit: 1 << 20, Limit: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // what the server still works on
	})
	return out
}

// sender makes calls; again says whether a retry may follow, and after how long.
type sender struct {
	again func(retry int) (wait time.Duration, ok bool)
}

func (s sender) call(ctx context.Context, h *http.Client, url string) error {
	for retry := 1; ; retry++ {
		err := attempt(ctx, h, url)
		if err == nil || ctx.Err() != nil {
			return err
		}
		wait, ok := s.again(retry)
		if !ok {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func attempt(ctx context.Context, h *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/webhooks/7", nil)
	if err != nil {
		return err
	}
	response, err := h.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err = io.Copy(io.Discard, response.Body); err == nil && response.StatusCode >= 500 {
		err = errors.New(response.Status)
	}
	return err
}

// vendor tries so often, always after the same pause; below 0: for ever.
func vendor(retries int) func() sender {
	return func() sender {
		return sender{func(retry int) (time.Duration, bool) { return pause, retries < 0 || retry <= retries }}
	}
}

// budgeted earns a tenth of a retry with each call.
func budgeted() sender {
	tokens := 0.0
	return sender{func(retry int) (time.Duration, bool) {
		if retry == 1 {
			tokens += 0.1
		}
		tokens--
		if tokens < 0 {
			tokens++
			return 0, false
		}
		return pause, true
	}}
}

// paced never gives a call up, but all of a sender's retries pass one every 20 s: 10 a second between the senders, which
// with the normal 20 is less than the server bears.
func paced() sender {
	var next time.Time
	return sender{func(int) (time.Duration, bool) {
		if now := time.Now(); next.Before(now) {
			next = now
		}
		wait := time.Until(next) + pause
		next = next.Add(20 * time.Second)
		return wait, true
	}}
}

// TestStormsFollowTheModel holds the server and the senders to what the model predicts: without a bound on retries, an
// outage that is longer than timeout / load never ends; with one, it is over by twice outage / (1 - load).
func TestStormsFollowTheModel(t *testing.T) {
	const outage = 12 * time.Second
	for _, test := range []struct {
		name          string
		outage        time.Duration
		start         func() sender
		recovers      bool
		least, most   float64 // requests for each call
		leastAnswered float64 // of the calls
	}{
		{"for ever", outage, vendor(-1), false, 5, 100, 0},
		{"for ever, a short outage", 1500 * time.Millisecond, vendor(-1), true, 1, 1.2, 0.99},
		{"three retries", outage, vendor(3), true, 1.2, 2, 0.8},
		{"a budget", outage, budgeted, true, 1, 1.1, 0.8},
		{"a pacer", outage, paced, true, 1, 2, 0.9},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := storm(t, test.outage, test.start)
			entries, calls, answered := out.History.Entries, 0, 0
			for _, given := range out.Run.Given {
				calls += len(given)
			}
			late := 0 // requests in the last ten seconds of the work
			for _, e := range entries {
				if assert.Succeeded(e) {
					answered++
				}
				if e.At > 50*time.Second && e.At <= 60*time.Second {
					late++
				}
			}
			amplification := float64(len(entries)) / float64(calls)
			t.Logf("%d calls, %.2f requests for each, %.0f %% answered, %d requests in the last ten seconds", calls, amplification,
				100*float64(answered)/float64(calls), late)
			if calls != senders*6 || amplification < test.least || amplification > test.most {
				t.Errorf("want %d calls with %v to %v requests for each", senders*6, test.least, test.most)
			}
			if recovered := late <= 240; recovered != test.recovers || float64(answered)/float64(calls) < test.leastAnswered {
				t.Errorf("recovered: %v, want %v, and %.0f %% answered", recovered, test.recovers, 100*test.leastAnswered)
			}
			verdict := assert.RecoveryDrain{Load: load}.Check(assert.Calls(entries, assert.Key{Run: &out.Run}))
			want := map[bool]assert.Verdict{true: assert.Pass, false: assert.Fail}[test.recovers]
			if test.outage == outage && verdict.Verdict != want {
				t.Errorf("%s, want %s: %s", verdict.Verdict, want, verdict.Detail)
			}
		})
	}
}
