package faultserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// Whoever looks while requests are being delayed finds all of them, with the times at which they came (WireMock 574 knew
// three of four).
func TestRequestsStillDelayedAreInTheJournal(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "hold", Fault: fault.Of("latency", delay(5*time.Second))})
		w.client.Timeout = 500 * ms
		go func() {
			for range 4 {
				w.do(t, "GET /")
				time.Sleep(200 * ms)
			}
		}()
		time.Sleep(2200 * ms) // the fourth waits
		synctest.Wait()
		entries := w.Journal().Entries()
		for i, e := range entries {
			at, last := time.Duration(i)*700*ms, i == 3
			if e.At != at || e.Rule != "hold" || e.Status != 0 || e.Open != last || !last && e.Gone != at+500*ms {
				t.Errorf("%d: %+v", i, e)
			}
		}
		if len(entries) != 4 {
			t.Errorf("%d entries", len(entries))
		}
		time.Sleep(time.Second)
	})
}

// Requests that no rule was meant for are journalled, and say so (MockServer 77 forgot them).
func TestUnmatchedRequestsAreJournalled(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "a", Match: faultserver.Match{Path: "/a"}, Fault: status(503)})
		w.do(t, "GET /a")
		w.do(t, "GET /b")
		if got := w.Journal().Entries(); len(got) != 2 || got[0].Rule != "a" || got[1].Path != "/b" || got[1].Rule != "" || got[1].Fault != "" || got[1].Status != 200 {
			t.Errorf("%+v", got)
		}
	})
}

// A connection that is closed once the upload was read is never an error of sending (okhttp 4792).
func TestCloseBehindTheUploadIsNoSendError(t *testing.T) {
	s := listenWith(t, "close", view{})
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for i := range 200 {
		_, err := (&http.Client{Transport: transport}).Post(s.url+"/bad", "", bytes.NewReader(make([]byte, 64<<10)))
		if !errors.Is(err, io.EOF) {
			t.Fatalf("run %d: %v", i, err)
		}
	}
	for _, e := range s.entries(t, 200) {
		if !e.BodyWhole || e.BodyLen != 64<<10 || e.Status != 0 || !e.Cut {
			t.Fatalf("%+v", e)
		}
	}
}

// A client whose limit is shorter than the delay sees its own timeout; one that waits while the server closes sees a broken
// connection. Neither ever sees an answer (WireMock.Net 103 gave a 504, and 279 a success).
func TestHeldRequestsEndWithoutAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		limit  time.Duration
		closed time.Duration
		want   string
		gone   time.Duration
	}{
		"limit": {limit: 10 * time.Second, closed: time.Hour, want: "deadline exceeded", gone: 10 * time.Second},
		"close": {limit: time.Hour, closed: 3 * time.Second, want: "EOF"},
	} {
		for _, f := range []fault.Fault{delay(11 * time.Second), &fault.Latency{Fixed: 11 * time.Second, At: fault.After}} {
			t.Run(name, func(t *testing.T) {
				virtual(t, func(t *testing.T, w *world) {
					w.use(t, faultserver.Rule{Fault: fault.Of("latency", f)})
					w.client.Timeout = c.limit
					end := time.AfterFunc(c.closed, func() { w.Close() })
					defer end.Stop()
					began := time.Now()
					code, text := w.ask(t, "GET /", "")
					if code != 0 || !strings.Contains(strings.ToLower(text), strings.ToLower(c.want)) || time.Since(began) != min(c.limit, c.closed) {
						t.Errorf("%d %s after %v", code, text, time.Since(began))
					}
					synctest.Wait()
					if e := w.last(t); e.Status != 0 || !e.Cut || e.Gone != c.gone {
						t.Errorf("%+v", e)
					}
				})
			})
		}
	}
}

// A fault ends when its schedule says so, or when its plan is taken away: what comes then is served at once, also while
// others still hang in it (Chaos Mesh 2658 went on).
func TestFaultsEndOnTime(t *testing.T) {
	for name, f := range map[string]fault.Spec{"status": status(501), "hang": fault.Of("hang", &fault.Hang{}), "latency": fault.Of("latency", delay(time.Hour))} {
		for _, by := range []string{"window", "plan"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				virtual(t, func(t *testing.T, w *world) {
					rule := faultserver.Rule{Name: "trouble", Fault: f}
					if by == "window" {
						rule.When = schedule.Of(&schedule.Window{For: 2 * time.Second})
					} else {
						defer time.AfterFunc(2*time.Second, func() { w.use(t) }).Stop()
					}
					w.use(t, rule)
					w.client.Timeout = 10 * time.Second
					for range 100 {
						go w.do(t, "GET /")
						time.Sleep(50 * ms)
						synctest.Wait()
					}
					for i, e := range w.Journal().Entries() {
						if during := e.At < 2*time.Second; during != (e.Rule == "trouble") || !during && (e.Status != 200 || e.Took != 0) {
							t.Errorf("request %d: %+v", i+1, e)
						}
					}
					time.Sleep(10 * time.Second)
				})
			})
		}
	}
}

// The same limit may be met again by who waited as told: it is the plan that says when it is over (dev-proxy 241).
func TestWaitingAsToldBuysNothing(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Steps: []fault.Spec{fault.Of("status", &fault.Status{Code: 429, RetryAfter: fault.Seconds(time.Second)})}},
			faultserver.Rule{Fault: status(429)})
		first := w.do(t, "GET /")
		told := w.last(t).RetryAfter
		time.Sleep(time.Second)
		if again := w.do(t, "GET /"); first != 429 || told != "1" || again != 429 {
			t.Errorf("%d, Retry-After %s, %d", first, told, again)
		}
	})
}

// Each request is rolled for once, whatever the rule looks at (Envoy 9597 made 75 % of 50 % where a header was there).
func TestOneRollForEachRequest(t *testing.T) {
	half, headers := 0.5, map[string]string{"X-Test": ""}
	var got [2]string
	for i, m := range []faultserver.Match{{}, {Headers: headers, Methods: []string{"GET"}, PathPrefix: "/"}} {
		s := faultserver.New(faultserver.WithSeed(11))
		if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "a", Match: m, Chance: &half, Fault: status(503)}}}); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			r := plain(0)
			r.Header.Set("X-Test", "1")
			s.ServeHTTP(httptest.NewRecorder(), r)
		}
		if n := s.Fired()["a"]; n < 437 || n > 563 { // four sigma
			t.Errorf("match %+v: %d of 1000", m, n)
		}
		got[i] = fmt.Sprint(statuses(s.Journal().Entries()))
		s.Close()
	}
	if got[0] != got[1] {
		t.Error("what a rule matches changes what it rolls")
	}
}

// However often a client tries, the upstream is asked once for each try that no fault took, and never for the others.
func TestTheUpstreamIsAskedOncePerRequest(t *testing.T) {
	var asked atomic.Int32
	half := 0.5
	proxied(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "abort", Chance: &half, Fault: status(502)})
		retries := 0
		for range 50 {
			for try := 0; try < 10 && w.do(t, "POST /") != 200; try++ {
				retries++
			}
		}
		aborted := w.Fired()["abort"]
		if all := w.Journal().Len(); int(asked.Load())+int(aborted) != all || asked.Load() > 50 || retries < 10 {
			t.Errorf("of %d requests %d met the fault, and the upstream was asked %d times", all, aborted, asked.Load())
		}
	})
}

// The upstream has no part in a delay: it is not asked, and no connection to it waits, until the delay is over (its own
// idle limit answered in place of the API in xk6-disruptor 272).
func TestDelaysComeBeforeTheUpstreamIsAsked(t *testing.T) {
	var at time.Duration
	var began time.Time
	proxied(t, func(http.ResponseWriter, *http.Request) { at = time.Since(began) }, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Match: faultserver.Match{Path: "/hold"}, Fault: fault.Of("latency", delay(3*time.Second))})
		for _, request := range []string{"GET /hold", "POST /hold", "GET /"} { // the upstream ends idle connections after a second
			began, at = time.Now(), -1
			want := 3 * time.Second
			if request == "GET /" {
				want = 0
			}
			if got, _ := w.ask(t, request, strings.Repeat("x", 100)); got != 200 || at != want || time.Since(began) != want {
				t.Errorf("%s: %d after %v, the upstream was asked after %v", request, got, time.Since(began), at)
			}
		}
	})
}

// retryLayer is a transport that tries again, as libraries put one before their callers.
type retryLayer struct{ http.RoundTripper }

func (l retryLayer) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	for range 4 {
		if answer, err = l.RoundTripper.RoundTrip(r); err == nil && answer.StatusCode == 200 {
			break
		}
		if err == nil {
			answer.Body.Close()
		}
	}
	return answer, err
}

// What a caller takes for one request is as many as its layers below send: only a server on a socket sees them.
func TestRetriesBelowTheCallerAreSeen(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	url, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Steps: []fault.Spec{status(429), status(504)}}}}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: retryLayer{transport}}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if got := fmt.Sprint(statuses(s.Journal().Entries())); answer.StatusCode != 200 || got != "[429 504 200]" {
		t.Errorf("the caller sees %d, the journal has %s", answer.StatusCode, got)
	}
}

// Close ends what hangs on HTTP/2 as well, within a second and with nothing left behind (Go 16555).
func TestCloseEndsHangsOnHTTP2(t *testing.T) {
	for _, kind := range []string{"hang", "{hang: {interim: 103}}", "{latency: {fixed: 1h}}", "{latency: {fixed: 1h, at: after}}"} {
		for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(kind+" "+version, func(t *testing.T) {
				leaks := goleak.IgnoreCurrent()
				s := listenWith(t, kind, view{version: version})
				transport := &http.Transport{Protocols: new(http.Protocols)}
				transport.Protocols.SetHTTP1(version == "HTTP/1.1")
				transport.Protocols.SetUnencryptedHTTP2(version == "HTTP/2.0")
				ended := make(chan error, 10)
				for range cap(ended) {
					go func() {
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
						defer cancel()
						r, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/bad", strings.NewReader("x"))
						answer, err := transport.RoundTrip(r)
						if err == nil {
							answer.Body.Close()
						}
						ended <- err
					}()
				}
				for s.server.Journal().Pending() < cap(ended) {
					<-s.server.Journal().Changed()
				}
				began := time.Now()
				if err := s.server.Close(); err != nil || time.Since(began) > time.Second {
					t.Errorf("closed after %v: %v", time.Since(began), err)
				}
				for range cap(ended) {
					if err := <-ended; err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("a client that hung sees %v", err)
					}
				}
				for _, e := range s.entries(t, cap(ended)) {
					if !e.Unused() && (e.Status != 0 || !e.Cut || e.Gone != 0) { // Go's client dials ahead
						t.Errorf("%+v", e)
					}
				}
				transport.CloseIdleConnections()
				goleak.VerifyNone(t, leaks)
			})
		}
	}
}
