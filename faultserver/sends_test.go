package faultserver_test

import (
	"net/http"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// An upstream may do the work and die with the connection that it came over. What Go's transport then sends again by
// itself is journalled as what it is: one request of the client, two for the upstream.
func TestWhatTheTransportSendsAgainIsCounted(t *testing.T) {
	for _, c := range []struct {
		request               string
		headers               []string
		status, upstream, hit int
	}{
		{"GET /", nil, 200, 200, 2},
		{"POST /", []string{"Idempotency-Key", "k-1"}, 200, 200, 2},
		{"POST /", nil, 502, 0, 1}, // the upstream was asked, and gave no answer
	} {
		hits, worn := 0, false
		upstream := func(w http.ResponseWriter, _ *http.Request) {
			hits++
			if worn {
				worn = false
				if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
					conn.Close()
				}
			}
		}
		proxied(t, upstream, func(t *testing.T, w *world) {
			w.ask(t, "GET /warm", "")
			if e := w.last(t); e.Hits() != 1 || e.Rare != nil {
				t.Errorf("an ordinary request: %d hits, %+v", e.Hits(), e.Rare)
			}
			hits, worn = 0, true
			status, _ := w.ask(t, c.request, "body", c.headers...)
			e := w.last(t)
			if status != c.status || e.Status != c.status || e.Upstream != c.upstream || hits != c.hit || e.Hits() != c.hit {
				t.Errorf("%s %q: status %d, journal %d, upstream %d, hits %d, counted %d; want %+v",
					c.request, c.headers, status, e.Status, e.Upstream, hits, e.Hits(), c)
			}
		})
	}
}

// Faults between the client and the upstream change nothing about the count, nor does an upstream that cannot be reached.
func TestHitsBehindFaults(t *testing.T) {
	for _, c := range []struct {
		fault fault.Fault
		hits  int
	}{{&fault.LoseAnswer{}, 1}, {&fault.FailBefore{}, 0}} {
		hits := 0
		proxied(t, func(http.ResponseWriter, *http.Request) { hits++ }, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Fault: fault.Of("under-test", c.fault)})
			w.ask(t, "GET /", "")
			if e := w.last(t); hits != c.hits || e.Hits() != c.hits {
				t.Errorf("%T: %d hits, %d counted", c.fault, hits, e.Hits())
			}
		})
	}
}
