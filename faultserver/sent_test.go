package faultserver

import (
	"net/http"
	"testing"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func sentBy(headers ...string) journal.Sent {
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	var a journal.Arrival
	identify(&a, header)
	return a.Sent
}

func TestSent(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string
		want    journal.Sent
	}{
		{"nothing", []string{"Accept", "*/*"}, journal.Sent{}},
		{"call header", []string{CallHeader, "a", "Idempotency-Key", "k"}, journal.Sent{CallBy: CallHeader}},
		{"key", []string{"idempotency-key", "k"}, journal.Sent{CallBy: "Idempotency-Key"}},
		{"range", []string{"Range", "bytes=5-"}, journal.Sent{Range: "bytes=5-"}},
		{"early", []string{"Early-Data", "1"}, journal.Sent{EarlyData: true}},
		{"not early", []string{"Early-Data", "0"}, journal.Sent{}},
		{"envoy", []string{"X-Envoy-Attempt-Count", "2"}, journal.Sent{Hop: 2, Proxied: true}},
		{"proxy", []string{"Via", "1.1 edge"}, journal.Sent{Proxied: true}},
		{"request", []string{"X-Request-Id", "r"}, journal.Sent{Request: hashOf("", "r")}},
		{"stamp", []string{"X-Amz-Date", "20260101T000000Z"}, journal.Sent{Stamp: hashOf("X-Amz-Date", "20260101T000000Z")}},
		{"stamps", []string{"Date", "d", "Webhook-Timestamp", "1"}, journal.Sent{Stamp: hashOf("Date", "d") ^ hashOf("Webhook-Timestamp", "1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sentBy(c.headers...); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestTraceOfTraceparent(t *testing.T) {
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	var want journal.Trace
	if err := want.UnmarshalText([]byte(id)); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]journal.Trace{
		"00-" + id + "-" + parent + "-01":                                     want,
		"01-" + id + "-" + parent + "-01":                                     want,
		"01-" + id + "-" + parent + "-01-more":                                want,
		"01-" + id + "-" + parent + "-01more":                                 {},
		"00-" + id + "-" + parent + "-01-more":                                {},
		"ff-" + id + "-" + parent + "-01":                                     {},
		"00-" + id + "-0000000000000000-01":                                   {},
		"00-00000000000000000000000000000000-" + parent + "-01":               {},
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + parent + "-01":               {},
		"00-" + id + "-" + parent:                                             {},
		"00-" + id + "-00f067aa0ba902bg-01":                                   {},
		"00-4bf92f3577b34da6a3ce929d0e0e47-36" + "-" + parent + "-01":         {},
		"4bf92f3577b34da6a3ce929d0e0e4736-4bf92f3577b34da6a3ce929d0e0e4736-1": {},
		"": {},
	} {
		if got := sentBy("Traceparent", value).Trace; got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

func TestTold(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		headers []string
		want    journal.Told
	}{
		{"nothing", 503, nil, journal.Told{}},
		{"redirect", 302, []string{"Location", "/b"}, journal.Told{Location: "/b"}},
		{"not modified", 304, []string{"Location", "/b"}, journal.Told{}},
		{"created", 201, []string{"Location", "/b"}, journal.Told{}},
		{"no", 503, []string{"X-Should-Retry", "false"}, journal.Told{Directive: journal.DirectiveNo}},
		{"yes", 409, []string{"Stripe-Should-Retry", "true"}, journal.Told{Directive: journal.DirectiveYes}},
		{"neither", 409, []string{"X-Should-Retry", "perhaps"}, journal.Told{}},
		{"success", 200, []string{"X-Should-Retry", "true"}, journal.Told{}},
		{"milliseconds", 429, []string{"Retry-After-Ms", "250", "X-Ms-Retry-After-Ms", "300"}, journal.Told{RetryAfterMS: "250"}},
		{"skewed clock", 429, []string{"Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, journal.Told{Date: "Sun, 06 Nov 1994 08:49:37 GMT"}},
		{"clock that nobody needs", 429, []string{"Retry-After", "3", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, journal.Told{}},
		{"azure", 429, []string{"X-Ms-Retry-After-Ms", "300"}, journal.Told{RetryAfterMS: "300"}},
		{"pushback", 503, []string{"Grpc-Retry-Pushback-Ms", "0"}, journal.Told{Directive: journal.DirectivePushback, RetryAfterMS: "0"}},
		{"pushback that forbids", 503, []string{"Grpc-Retry-Pushback-Ms", "-1"}, journal.Told{Directive: journal.DirectiveNo}},
		{"pushback that says nothing", 503, []string{"Grpc-Retry-Pushback-Ms", "soon"}, journal.Told{Directive: journal.DirectiveNo}},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			for i := 0; i < len(c.headers); i += 2 {
				header.Set(c.headers[i], c.headers[i+1])
			}
			if got := told(c.status, header); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}
