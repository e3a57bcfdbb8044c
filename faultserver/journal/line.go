package journal

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// version is the format's number; it changes when a reader of the old one would misread the new one.
const version = 1

// header is the first line of a written history.
type header struct {
	Journal int       `json:"journal"`
	Began   time.Time `json:"began,omitzero"`
	Lost    uint64    `json:"lost"`
	Until   int64     `json:"until_ns"`
	Entries *uint64   `json:"entries,omitempty"` // how many lines follow, so that missing ones are noticed
	Live    bool      `json:"live,omitempty"`    // entries come as they end, until nobody listens any more
}

// end is the last line of a live history that was watched to its end: what its header could not know.
type end struct {
	Until   int64  `json:"until_ns"`
	Lost    uint64 `json:"lost"`
	Entries uint64 `json:"entries"`
}

// endBegins tells an end from an entry.
const endBegins = `{"until_ns":`

// line is an Entry as it is written: what is empty is left out, and hashes are hex, since many JSON readers round big
// numbers.
type line struct {
	Seq          uint64 `json:"seq"`
	At           int64  `json:"at_ns"`
	Took         int64  `json:"took_ns,omitempty"`
	Gone         int64  `json:"gone_ns,omitempty"`
	Client       string `json:"client,omitempty"`
	Call         string `json:"call,omitempty"`
	Claim        int32  `json:"claim,omitempty"`
	Method       string `json:"method,omitempty"`
	Path         string `json:"path,omitempty"`
	Query        string `json:"query,omitempty"`
	Key          string `json:"key,omitempty"`
	Precondition bool   `json:"precondition,omitempty"`
	Closing      bool   `json:"closing,omitempty"`
	Auth         sum    `json:"auth,omitempty"`
	BodySum      sum    `json:"body_sum,omitempty"`
	BodyLen      int64  `json:"body_len,omitempty"`
	BodyWhole    bool   `json:"body_whole,omitempty"`
	Early        bool   `json:"early,omitempty"`
	Conn         uint64 `json:"conn,omitempty"`
	Proto        string `json:"proto,omitempty"`
	TLS          bool   `json:"tls,omitempty"`
	Handshake    string `json:"handshake,omitempty"`
	Status       int    `json:"status,omitempty"`
	RetryAfter   string `json:"retry_after,omitempty"`
	Cut          bool   `json:"cut,omitempty"`
	Open         bool   `json:"open,omitempty"`
	Rule         string `json:"rule,omitempty"`
	Fault        string `json:"fault,omitempty"`
	Unprocessed  bool   `json:"unprocessed,omitempty"`
	Upstream     int    `json:"upstream,omitempty"`

	CallBy       string    `json:"call_by,omitempty"`
	Trace        Trace     `json:"trace,omitzero"`
	Request      sum       `json:"request,omitempty"`
	Hop          int32     `json:"hop,omitempty"`
	Proxied      bool      `json:"proxied,omitempty"`
	Range        string    `json:"range,omitempty"`
	EarlyData    bool      `json:"early_data,omitempty"`
	Stamp        sum       `json:"stamp,omitempty"`
	Marks        string    `json:"marks,omitempty"`
	Location     string    `json:"location,omitempty"`
	Directive    Directive `json:"directive,omitempty"`
	RetryAfterMS string    `json:"retry_after_ms,omitempty"`
	Date         string    `json:"date,omitempty"`
	Sends        int32     `json:"sends,omitempty"`

	// Raw holds, by field name and in base64, the strings that JSON cannot carry because they are not UTF-8.
	Raw map[string][]byte `json:"raw,omitempty"`
}

// sum is a hash in hex.
type sum uint64

func (s sum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(s)), nil }

func (s *sum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("%q is not a hash of up to 16 hex digits", text)
	}
	*s = sum(n)
	return nil
}

// texts lists the string fields with their names.
func (l *line) texts() map[string]*string {
	return map[string]*string{
		"client": &l.Client, "call": &l.Call, "method": &l.Method, "path": &l.Path, "query": &l.Query, "key": &l.Key,
		"proto": &l.Proto, "retry_after": &l.RetryAfter, "rule": &l.Rule, "fault": &l.Fault, "handshake": &l.Handshake, "call_by": &l.CallBy,
		"range": &l.Range, "marks": &l.Marks, "location": &l.Location, "retry_after_ms": &l.RetryAfterMS,
		"date": &l.Date,
	}
}

// plain reports whether all strings are UTF-8.
func (l *line) plain() bool {
	for _, s := range [...]string{l.Client, l.Call, l.Method, l.Path, l.Query, l.Key, l.Proto, l.RetryAfter, l.Rule, l.Fault, l.Handshake, l.CallBy,
		l.Range, l.Marks, l.Location, l.RetryAfterMS, l.Date} {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

func toLine(e *Entry) line {
	l := line{
		Seq: e.Seq, At: int64(e.At), Took: int64(e.Took), Gone: int64(e.Gone), Client: e.Client, Call: e.Call, Claim: e.Claim,
		Method: e.Method, Path: e.Path, Query: e.Query, Key: e.Key, Precondition: e.Precondition, Closing: e.Closing, Auth: sum(e.Auth),
		BodySum: sum(e.BodySum), BodyLen: e.BodyLen, BodyWhole: e.BodyWhole, Early: e.Early, Conn: e.Conn, Proto: e.Proto, TLS: e.TLS,
		Handshake: e.Handshake, Status: e.Status,
		RetryAfter: e.RetryAfter, Cut: e.Cut, Open: e.Open, Rule: e.Rule, Fault: e.Fault, Unprocessed: e.Unprocessed, Upstream: e.Upstream,
	}
	if r := e.Rare; r != nil {
		l.CallBy, l.Trace, l.Request, l.Hop, l.Proxied = r.CallBy, r.Trace, sum(r.Request), r.Hop, r.Proxied
		l.Range, l.EarlyData, l.Stamp, l.Marks = r.Range, r.EarlyData, sum(r.Stamp), r.Marks
		l.Location, l.Directive, l.RetryAfterMS, l.Date = r.Location, r.Directive, r.RetryAfterMS, r.Date
		l.Sends = r.Sends
	}
	if l.plain() {
		return l
	}
	l.Raw = map[string][]byte{}
	for name, s := range l.texts() {
		if !utf8.ValidString(*s) {
			l.Raw[name], *s = []byte(*s), ""
		}
	}
	return l
}

func (l *line) entry() (Entry, error) {
	if len(l.Raw) > 0 {
		texts := l.texts()
		for name, bytes := range l.Raw {
			s, ok := texts[name]
			if !ok {
				return Entry{}, fmt.Errorf("raw: there is no text field %q", name)
			}
			*s = string(bytes)
		}
	}
	e := Entry{
		Seq: l.Seq, At: time.Duration(l.At), Took: time.Duration(l.Took), Gone: time.Duration(l.Gone),
		Client: l.Client, Call: l.Call, Claim: l.Claim, Method: l.Method, Path: l.Path, Query: l.Query, Key: l.Key,
		Precondition: l.Precondition, Closing: l.Closing, Auth: uint64(l.Auth), BodySum: uint64(l.BodySum), BodyLen: l.BodyLen,
		BodyWhole: l.BodyWhole, Early: l.Early, Conn: l.Conn, Proto: l.Proto, TLS: l.TLS, Handshake: l.Handshake, Status: l.Status, RetryAfter: l.RetryAfter, Cut: l.Cut,
		Open: l.Open, Rule: l.Rule, Fault: l.Fault, Unprocessed: l.Unprocessed, Upstream: l.Upstream,
	}
	if r := l.rare(); r != (Rare{}) {
		e.Rare = &r
	}
	return e, nil
}

func (l *line) rare() Rare {
	return Rare{
		Sent{
			CallBy: l.CallBy, Trace: l.Trace, Request: uint64(l.Request), Hop: l.Hop, Proxied: l.Proxied,
			Range: l.Range, EarlyData: l.EarlyData, Stamp: uint64(l.Stamp), Marks: l.Marks,
		},
		Told{Location: l.Location, Directive: l.Directive, RetryAfterMS: l.RetryAfterMS, Date: l.Date},
		l.Sends,
	}
}
