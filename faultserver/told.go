package faultserver

import (
	"net/http"
	"strconv"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// told reads what an answer says to direct the client, beside its status and Retry-After. Successes direct nobody.
func told(status int, header http.Header) (t journal.Told) {
	if status < 300 {
		return t
	}
	if status < 400 && status != http.StatusNotModified {
		t.Location = first(header, "Location")
	}
	if after := first(header, "Retry-After"); after != "" && (after[0] < '0' || after[0] > '9') {
		t.Date = first(header, "Date")
	}
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} { // OpenAI and its kin; Azure
		if t.RetryAfterMS == "" {
			t.RetryAfterMS = first(header, name)
		}
	}
	for _, name := range []string{"X-Should-Retry", "Stripe-Should-Retry"} {
		switch first(header, name) {
		case "true":
			t.Directive = journal.DirectiveYes
			return t
		case "false":
			t.Directive = journal.DirectiveNo
			return t
		}
	}
	if values := header["Grpc-Retry-Pushback-Ms"]; len(values) > 0 {
		pushback(&t, values[0])
	}
	return t
}

// pushback reads what gRPC A6 says about retrying: wait so long, or do not retry if it is negative or no number.
func pushback(t *journal.Told, value string) {
	if _, err := strconv.ParseUint(value, 10, 31); err != nil {
		t.Directive = journal.DirectiveNo
		return
	}
	t.Directive, t.RetryAfterMS = journal.DirectivePushback, value
}

// first is header.Get for names that are canonical already.
func first(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}
