package contract

import (
	"context"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// bubble is what users of VirtualTime write.
func bubble(t *testing.T) func(run func()) {
	return func(run func()) { synctest.Test(t, func(*testing.T) { run() }) }
}

const outage = `
name: outage
summary: Two hours of 503.
judges: [retry-cap, min-spacing, backoff-growth]
clients: 1
limit: 4h
rules:
  - per: client
    when: {window: {for: 2h}}
    fault: 503
`

func outageOf(t testing.TB) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Load("outage.yaml", []byte(outage))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patient retries after 2, 4, 8 s and so on, an hour at most, twelve times.
func patient(ctx context.Context, h *http.Client, url string) error {
	for wait, try := 2*time.Second, 0; ; wait, try = min(2*wait, time.Hour), try+1 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := h.Do(request)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK || try == 12 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// judgePatient judges twelve retries over more than two hours.
func judgePatient(t testing.TB, bubble func(run func())) *outcome {
	t.Helper()
	s, err := newSession(Request{
		Client: driver.HTTPFunc("patient", patient), Scenarios: []scenarios.Scenario{outageOf(t)}, Limit: 4 * time.Hour,
		Contract: mustLoad(t, "name: n\nattempts: {max: 13}\nbackoff: {initial: 2s, multiplier: 2, max: 1h, jitter: none}\n"),
		Bubble:   bubble, FailOn: assert.Advisory,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	o := s.runs[0].out.get()
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o
}

func mustLoad(t testing.TB, text string) *assert.Contract {
	t.Helper()
	c, err := assert.LoadContract("contract.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHoursOfBackoffAreExactAndTakeMilliseconds(t *testing.T) {
	for try := 1; ; try++ { // the machine may have something else to do
		began := time.Now()
		o := judgePatient(t, bubble(t))
		took := time.Since(began)
		for _, call := range o.calls {
			wait := 2 * time.Second
			for i := range len(call.Attempts) - 1 {
				if call.Gap(i) != wait {
					t.Errorf("wait %d took %v, want %v", i+1, call.Gap(i), wait)
				}
				wait = min(2*wait, time.Hour)
			}
			if last := call.Attempts[len(call.Attempts)-1]; len(call.Attempts) != 13 || last.Status != 200 || last.At < 2*time.Hour {
				t.Errorf("%d attempts, the last at %v with %d", len(call.Attempts), last.At, last.Status)
			}
		}
		if len(o.calls) == 0 || o.results["backoff-growth"].Verdict != assert.Pass {
			t.Errorf("%d calls, growth %+v", len(o.calls), o.results["backoff-growth"])
		}
		if took < 50*time.Millisecond || t.Failed() {
			t.Logf("took %v", took)
			return
		}
		if try == 20 {
			t.Fatalf("took %v, want less than 50 ms", took)
		}
	}
}

// What a client does wrong in virtual time is told, with what to do about it, and holds nothing up.
func TestVirtualTimeTellsWhatIsWrong(t *testing.T) {
	stuckAfter = 200 * time.Millisecond
	defer func() { stuckAfter = time.Minute }()
	once := func(ctx context.Context, h *http.Client, url string) error {
		answer, err := h.Get(url)
		if err == nil {
			answer.Body.Close()
		}
		return err
	}
	forEver := make(chan struct{})
	defer close(forEver)
	for name, row := range map[string]struct {
		client func(ctx context.Context, h *http.Client, url string) error
		wants  []string
	}{
		"leaves a goroutine": {func(ctx context.Context, h *http.Client, url string) error {
			go func() { <-make(chan struct{}) }()
			return once(ctx, h, url)
		}, []string{"left goroutines behind", "end what it starts"}},
		"heeds no context": {func(ctx context.Context, h *http.Client, url string) error {
			_ = once(ctx, h, url)
			<-make(chan struct{})
			return nil
		}, []string{"does it heed its context?"}},
		"waits for what is outside": {func(ctx context.Context, h *http.Client, url string) error {
			_ = once(ctx, h, url)
			<-forEver
			return nil
		}, []string{"outside of the bubble", "without VirtualTime"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newSession(Request{
				Client: driver.HTTPFunc("odd", row.client), Scenarios: []scenarios.Scenario{outageOf(t)}, Bubble: bubble(t),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.stop()
			err = s.look.get().err
			for _, want := range row.wants {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: want %q in it", err, want)
				}
			}
			if again := s.runs[0].out.get().err; again == nil {
				t.Error("a scenario was run all the same")
			}
		})
	}
}

func TestABubbleThatRunsNothing(t *testing.T) {
	s, err := newSession(Request{Client: driver.HTTPFunc("patient", patient), Scenarios: []scenarios.Scenario{outageOf(t)}, Bubble: func(func()) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	if err := s.look.get().err; err == nil || !strings.Contains(err.Error(), "calls the one it is given") {
		t.Error(err)
	}
}

// Virtual time is as exact over TLS, and over HTTP/2.
func TestVirtualTimeOverTLSAndHTTP2(t *testing.T) {
	ca, err := devca.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]Request{
		"TLS":    {Client: driver.HTTPFunc("patient", patient), CA: ca},
		"HTTP/2": {Client: driver.HTTP2Func("patient", patient)},
	} {
		request.Seed, request.FailOn, request.Scenarios, request.Bubble = 1, assert.Major, []scenarios.Scenario{outageOf(t)}, bubble(t)
		r, err := Examine(t.Context(), request)
		if err != nil || len(r.Errors) > 0 {
			t.Fatal(name, err, r.Errors)
		}
		for i, w := range r.Waits {
			if want := min(2000*math.Pow(2, float64(i)), 3.6e6); w.MedianMS != want {
				t.Errorf("%s: wait %d is %v ms, want %v", name, i+1, w.MedianMS, want)
			}
		}
		if len(r.Waits) == 0 {
			t.Errorf("%s: no waits in %+v", name, r)
		}
	}
}
