package accesslog

import (
	"errors"
	"io"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// Format is one way to write an access log.
type Format struct {
	Name, Summary string
	Source        string // who defines it, and where the example comes from
	Example       string // lines that decode
	Rank          int    // tried in this order where the format is to be found out; the more particular, the earlier

	lines    func(Options) parser          // reads line by line
	document func(io.Reader, Options) feed // reads a whole document; instead of lines
	opens    func(head []byte) bool        // whether a file that begins so is such a document
}

// Formats holds every registered log format.
var Formats = registry.New[Format]("log format")

func register(f Format) { Formats.Add(f.Name, f) }

// parser reads one line at a time. It may keep what earlier lines say about later ones.
type parser interface {
	// parse fills r with what line says. r and line are only good until the next call. errComment means that there is
	// nothing wrong with the line, but it is no request.
	parse(line []byte, r *record) error
}

// feed gives the requests of a document one after the other; io.EOF ends them. A *badLine is malformed, and the feed
// goes on behind it.
type feed interface{ next(r *record) error }

var (
	errComment = errors.New("no request")
	errFormat  = errors.New("not a line of this format")
)

// record is what one line says. Byte slices point into the line.
type record struct {
	stamp   int64         // Unix nanoseconds
	exact   time.Duration // what the stamp is rounded to
	took    time.Duration // 0 where the log does not say
	atStart bool          // the stamp is when the request arrived; else when it was over

	remote, user  []byte
	method, proto []byte
	target        []byte // path and query, perhaps a whole URL
	query         []byte // where it stands by itself
	status        int    // 0: none was sent
	left, cut     bool   // the client went away; the answer broke off

	length     int64  // bytes of the request's body, -1 where the log does not say
	body       []byte // hash of the body
	key, call  []byte // idempotency key, id of the call
	retryAfter []byte
	upstream   int

	headers []headerValue  // those that the client's identity is made of
	entry   *journal.Entry // all of it, where the log is a journal
}

// headerValue is one header that the mapping asks for, its name in lower case.
type headerValue struct {
	name  string
	value []byte
}

// reset empties r for the next line, and keeps the names of the headers.
func (r *record) reset() {
	headers := r.headers
	for i := range headers {
		headers[i].value = nil
	}
	*r = record{headers: headers, length: -1}
}

// header sets the value of a header, its name in lower case, if anyone asked for it.
func (r *record) header(name string, value []byte) {
	for i := range r.headers {
		if r.headers[i].name == name {
			r.headers[i].value = value
		}
	}
}

// request takes a request line apart: "GET /path HTTP/1.1". What is none, as after a failed TLS handshake, is no request.
func (r *record) request(line []byte) {
	first, last := -1, -1
	for i, c := range line {
		if c == ' ' {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	switch {
	case first < 0 || !token(line[:first]):
	case last == first || len(line)-last < 6 || string(line[last+1:last+6]) != "HTTP/":
		r.method, r.target = line[:first], line[first+1:]
	default:
		r.method, r.target, r.proto = line[:first], line[first+1:last], line[last+1:]
	}
}

// token reports whether s can be a method.
func token(s []byte) bool {
	for _, c := range s {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 32
}
