package faultserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// crowd sends n requests of as many clients at once.
func crowd(s *faultserver.Server, n, clients int, request func(k int) *http.Request) {
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for k := c; k < n; k += clients {
				s.ServeHTTP(httptest.NewRecorder(), request(k))
			}
		})
	}
	all.Wait()
}

func plain(int) *http.Request { return httptest.NewRequest("GET", "/", nil) }

// statuses are those of entries, in order of arrival.
func statuses(entries []journal.Entry) (all []int) {
	for _, e := range entries {
		all = append(all, e.Status)
	}
	return all
}

// Each step goes to exactly one request, whatever comes at once, and the journal has them in the order of the plan
// (WireMock 456 gave the first step to three requests).
func TestStepsUnderLoadAreInOrder(t *testing.T) {
	var steps []fault.Spec
	var want []int
	for k := range 64 {
		code := 400 + k
		steps, want = append(steps, fault.Of("status", &fault.Status{Code: code})), append(want, code)
	}
	for range 1000 - len(steps) {
		want = append(want, 200)
	}
	for _, per := range []faultserver.Scope{faultserver.PerAll, faultserver.PerClient} {
		for range 20 {
			s := faultserver.New()
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Per: per, Steps: steps}}}); err != nil {
				t.Fatal(err)
			}
			crowd(s, len(want), 32, plain)
			if got := statuses(s.Journal().Entries()); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("per %s: got %v", per, got)
			}
			s.Close()
		}
	}
}

// One answer that is there once is given once a round (MockServer 1834 gave it to several).
func TestOnceIsOnce(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "job", Steps: []fault.Spec{status(503)}}}}); err != nil {
		t.Fatal(err)
	}
	for round := range 100 {
		s.Reset()
		crowd(s, 16, 16, plain)
		if got := s.Fired()["job"]; got != 1 {
			t.Fatalf("round %d: given %d times", round, got)
		}
	}
}

// A step is a step whatever its answer says (mountebank 158 repeated one that sets headers once more).
func TestStepsWithHeadersAreCountedAsOthers(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		busy := fault.Of("status", &fault.Status{Code: 503, Headers: map[string]string{"X-A": "1"}, Body: "busy"})
		w.use(t, faultserver.Rule{Steps: []fault.Spec{busy, busy}})
		for range 4 {
			w.do(t, "GET /")
		}
		if got := fmt.Sprint(statuses(w.Journal().Entries())); got != "[503 503 200 200]" {
			t.Error(got)
		}
	})
}

// A body that is slow in coming, and that a rule needs to tell calls apart, holds nobody else up.
func TestCountingWaitsForNoBody(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Match: faultserver.Match{Path: "/calls"}, Per: faultserver.PerCall, Steps: []fault.Spec{status(503)}},
			faultserver.Rule{Steps: []fault.Spec{status(500)}})
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("POST /calls HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")); err != nil {
			t.Fatal(err)
		}
		for w.Journal().Len() == 0 {
			<-w.Journal().Changed()
		}
		if got, after := w.do(t, "GET /"), w.do(t, "GET /"); got != 500 || after != 200 {
			t.Errorf("%d and %d behind an upload that does not go on", got, after)
		}
	})
}

// What the transport of a client sends twice by itself takes two steps, and the journal lists both with their connections.
func TestStepsAreTakenByWhatIsSent(t *testing.T) {
	for _, c := range []struct {
		name, want string // status and connection of each entry
		used       bool   // the connection was used before
		key        string // makes Go's transport send a POST again by itself
	}{
		{"fresh", "0@1 200@2", false, ""},
		{"used", "200@1 0@1 200@2", true, ""},
		{"used, sent again by the transport", "200@1 0@1 200@2", true, "k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.use(t, faultserver.Rule{Match: faultserver.Match{Path: "/x"}, Steps: []fault.Spec{fault.Of("reset", &fault.Reset{}), fault.Pass()}})
				if c.used {
					w.do(t, "GET /")
				}
				var headers []string
				if c.key != "" {
					headers = []string{"Idempotency-Key", c.key}
				}
				got := w.do(t, "POST /x", headers...)
				if want := map[bool]int{false: 0, true: 200}[c.key != ""]; got != want {
					t.Errorf("the caller sees %d, want %d", got, want)
				}
				if got == 0 { // the caller tries again
					got = w.do(t, "POST /x", headers...)
				}
				var seen []string
				for _, e := range w.Journal().Entries() {
					seen = append(seen, fmt.Sprintf("%d@%d", e.Status, e.Conn))
				}
				if text := strings.Join(seen, " "); text != c.want || got != 200 {
					t.Errorf("%s, and then the caller sees %d", text, got)
				}
			})
		})
	}
}
