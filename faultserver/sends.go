package faultserver

import (
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// sends asks the upstream for one exchange, and journals how often the request really went out: net/http sends it again by
// itself when a kept-alive connection died under it and the method, or an idempotency key, allows that. The upstream may
// have done the work twice by then.
type sends struct {
	http.RoundTripper
	entry *journal.Exchange
}

// RoundTrip asks the upstream.
func (s *sends) RoundTrip(r *http.Request) (*http.Response, error) {
	var n atomic.Int32
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders == nil { // ReverseProxy's own
		trace.WroteHeaders = func() { n.Add(1) }
	} else {
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: func() { n.Add(1) }}))
	}
	answer, err := s.RoundTripper.RoundTrip(r)
	if sent := int(n.Load()); sent > 1 || sent == 1 && err != nil {
		s.entry.Sends(sent)
	}
	return answer, err
}
