// Package journal is the record of everything that reached the server: one entry for each exchange, in order of arrival.
//
// It is a leaf: everything else shares it, and it imports nothing but the standard library (no net/http either), so that a
// history can be read and judged where no server runs.
package journal

import (
	"strings"
	"time"
)

// Entry is one exchange: a request that arrived and what became of it. All times count from the start of the run.
//
// Three kinds of entries stand for what no handler saw; none has a Proto. Where a fault ended the connection before a request
// was read, Rule and Fault say so; TLS handshakes that failed are among them, and Handshake says why. Refused ones are
// requests that the HTTP library answered by itself (431, 400, 417 ...) or that broke off within the head: Method, Path and
// Query are given where the head could be read, At is when it was refused. Unused ones are connections over which nothing
// came.
type Entry struct {
	Seq  uint64        // order of arrival, from 1; Seq and At are taken under one lock
	At   time.Duration // when the request's head was complete
	Took time.Duration // from At until the last byte was handed over or the fault took effect; meaningless while Open
	Gone time.Duration // when the client left before that; 0 if it stayed

	Client string // who: listener, header, hashed API key or remote host; never host:port
	Call   string // correlation id found in the request, "" if none

	Method, Path, Query string // all empty where none could be read
	Key                 string // idempotency key, hashed where it could be a secret; "" if none

	Auth    uint64 // keyed hash of the credentials, 0 if none; the credentials themselves are never kept
	BodySum uint64 // hash of the body as it was received; 0 for an empty body
	BodyLen int64  // bytes received

	Conn      uint64 // connection, from 1
	Proto     string // HTTP/1.1, HTTP/2.0; "" where no handler saw a request
	Handshake string // why the TLS handshake failed, in a few words: see Alert; "" if it did not

	Status      int    // status line that was sent; 0: none
	RetryAfter  string // as sent
	Rule, Fault string // what acted; empty when untouched
	Upstream    int    // status that the upstream gave, or the stub behind a fault; 0 if it was not asked, or gave none

	Rare *Rare // what only few exchanges have to tell, nil where there is none; may be shared, so not to be written to

	// What is small stands together: a history has a million entries.
	Claim        int32 // attempt number that the client states, or a proxy where the client does not; from 1, 0 if none
	Precondition bool  // If-Match, If-None-Match or If-Unmodified-Since was sent
	Closing      bool  // the client wanted the connection closed behind the answer: Connection: close, or HTTP/1.0
	BodyWhole    bool  // the declared length, or the last chunk, arrived
	Early        bool  // a fault was to act before the body was read: what is missing of it may have come
	TLS          bool  // it came over TLS, or was to
	Cut          bool  // the answer was broken off: reset, closed, truncated, garbled, never given
	Open         bool  // still going on when the journal was read
	Unprocessed  bool  // the client was told that nothing was done: HTTP/2's REFUSED_STREAM, or GOAWAY with a stream below
}

// End is when the attempt was over for the client: the moment it left, else the last byte or the fault's effect.
// An open exchange has no end yet; its arrival is returned.
func (e Entry) End() time.Duration {
	switch {
	case e.Gone > 0:
		return e.Gone
	case e.Open:
		return e.At
	default:
		return e.At + e.Took
	}
}

// Request is the method and path for people to read: "GET /orders", or "(no request)" where none was read.
func (e Entry) Request() string {
	if e.Method == "" && e.Path == "" {
		return "(no request)"
	}
	return e.Method + " " + e.Path
}

// Hits is how often the request was sent to the upstream, or reached the stub behind a fault: more than once where a
// kept-alive connection to the upstream died under it and it was sent again, perhaps after the upstream had done the work.
func (e Entry) Hits() int {
	switch {
	case e.Rare != nil && e.Rare.Sends > 0:
		return int(e.Rare.Sends)
	case e.Upstream != 0:
		return 1
	}
	return 0
}

// Delivered reports whether a whole answer went to a client that was still there.
func (e Entry) Delivered() bool { return e.Status != 0 && !e.Cut && !e.Open && e.Gone == 0 }

// Refused reports whether this was a request that reached no handler: the client sent it, and is to answer for it.
func (e Entry) Refused() bool { return e.noHandler() && (e.Status != 0 || e.Cut) }

// Unused reports whether this is a connection over which no request came. It ended at At. Clients that connect ahead of
// need, or twice to take the faster, leave such connections; they are no attempts at anything.
func (e Entry) Unused() bool {
	return e.noHandler() && e.Method == "" && e.Status == 0 && !e.Cut && !e.Open
}

// Alert begins what Handshake says where the client ended the handshake with an alert; the alert's name follows, as in
// "alert: unknown certificate authority".
const Alert = "alert: "

// Distrusted reports whether the client turned the server's certificate down: it said so in an alert, or it left, without a
// request, a connection on which a fault had shown a certificate that nobody may accept.
func (e Entry) Distrusted() bool {
	alert, told := strings.CutPrefix(e.Handshake, Alert)
	return told && strings.Contains(alert, "certificate") && alert != "certificate required" ||
		e.Fault == "certificate" && e.Proto == "" && e.Status == 0
}

// noHandler reports whether no handler saw this, and no fault was the reason.
func (e Entry) noHandler() bool { return e.Proto == "" && e.Conn != 0 && e.Rule == "" }

// Source is anything that a history can be read from.
type Source interface{ Entries() []Entry }

// History is what a judge is given: the entries and how far they can be trusted.
type History struct {
	Entries []Entry
	Lost    uint64        // entries that the bounded memory dropped; claims of absence need 0
	Until   time.Duration // how long was watched
	Began   time.Time     // wall clock at the start; zero if unknown
}
