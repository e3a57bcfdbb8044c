package journal

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// Rare is what only few exchanges have to tell: it is kept apart, so that the many do not pay for it.
type Rare struct {
	Sent
	Told
	Sends int32 // how often the request was sent to the upstream, unless it was once, and answered: see Entry.Hits
}

// Sent is what few requests say of themselves. Hashes compare within one history only.
type Sent struct {
	CallBy  string // name of the header that Entry.Call was read from; "" if not known
	Trace   Trace  // trace-id of a valid traceparent header; zero if none
	Request uint64 // hash of X-Request-Id, which proxies keep over their own retries; 0 if none
	Hop     int32  // attempt number that a proxy states (x-envoy-attempt-count), from 1; 0 if none
	Proxied bool   // Via, Forwarded or X-Forwarded-For was there: a proxy passed it on

	Range     string // Range or Content-Range, as sent: the part of a representation that is asked for, or brought
	EarlyData bool   // "Early-Data: 1" was there: sent within the TLS handshake (RFC 8470)
	Stamp     uint64 // hash of what is made anew for each attempt: Date, X-Amz-Date, Webhook-Timestamp; 0 if none
	Marks     string // while headers are calibrated, of each that may name a call "Name=hash", joined by spaces; else ""
}

// Told is what few answers say to direct the client.
type Told struct {
	Location     string    // where a 3xx answer sends the client, as sent
	Directive    Directive // whether to retry, where the answer says so outright
	Date         string    // the answer's own Date, where Retry-After is no number and a fault or the upstream set it, as sent
	RetryAfterMS string    // retry-after-ms, x-ms-retry-after-ms, or grpc-retry-pushback-ms where it asks for a wait; as sent
}

// Directive is an explicit word of the server about retrying: x-should-retry, stripe-should-retry, grpc-retry-pushback-ms.
type Directive string

// The directives; the empty one is none.
const (
	DirectiveYes      Directive = "yes"      // retry
	DirectiveNo       Directive = "no"       // do not: said outright, or by a pushback that is negative or no number
	DirectivePushback Directive = "pushback" // retry after RetryAfterMS, and then start with the first wait again
)

var directives = []Directive{"", DirectiveYes, DirectiveNo, DirectivePushback}

func (d Directive) known() bool { return slices.Contains(directives, d) }

// Trace is the trace-id of W3C Trace Context.
type Trace [16]byte

// String gives the hex digits.
func (t Trace) String() string { return hex.EncodeToString(t[:]) }

// MarshalText gives the hex digits.
func (t Trace) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads 32 hex digits.
func (t *Trace) UnmarshalText(text []byte) error {
	id, err := hex.DecodeString(string(text))
	if err != nil || len(id) != len(t) {
		return fmt.Errorf("%q is not a trace id of 32 hex digits", text)
	}
	*t = Trace(id)
	return nil
}

// More gives the rare facts; all of them empty where there are none.
func (e Entry) More() Rare {
	if e.Rare == nil {
		return Rare{}
	}
	return *e.Rare
}
