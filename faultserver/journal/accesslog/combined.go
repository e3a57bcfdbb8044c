package accesslog

import (
	"bytes"
	"time"
)

func init() {
	register(Format{
		Name: "combined", Rank: 60,
		Summary: "nginx and Apache combined or common, also with $request_time and $msec appended, or more of it named; Traefik's text",
		Source: "Apache HTTP Server 2.4, \"Log Files\" (httpd.apache.org/docs/2.4/logs.html), whose example lines stand first; nginx, " +
			"ngx_http_log_module; Traefik, \"Access Logs\"",
		Example: `127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326
127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"
203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "POST /driver/status HTTP/1.1" 400 57 "-" "driver-app/4.2" rt=0.012 msec=1767323045.678
`,
		lines: func(Options) parser { return combined{} },
	})
}

// combined reads the format that Apache made and everyone writes. Whether its time is the arrival or the end cannot be
// seen, and does not matter without a duration; what appends one is told by its form: nginx writes seconds with a
// fraction at the end of the request, Traefik "12ms" since its start. Whole numbers could be anything and are left alone.
type combined struct{}

func (combined) parse(line []byte, r *record) error {
	open := bytes.IndexByte(line, '[')
	if open < 4 || line[open-1] != ' ' {
		return errFormat
	}
	length := bytes.IndexByte(line[open:], ']')
	if length < 0 {
		return errFormat
	}
	if !r.identity(line[:open-1]) {
		return errFormat
	}
	var ok bool
	if r.stamp, r.exact, ok = clfTime(line[open+1 : open+length]); !ok {
		return errFormat
	}
	rest := line[open+length+1:]
	if len(rest) < 2 || rest[0] != ' ' || rest[1] != '"' {
		return errFormat
	}
	request, rest, ok := quoted(rest[1:])
	if !ok {
		return errFormat
	}
	r.request(request)
	word, rest := field(rest)
	if r.status, ok = status(word); !ok {
		return errFormat
	}
	if r.status == 499 { // nginx: the client closed the connection; no status was sent
		r.status, r.left = 0, true
	}
	word, rest = field(rest)
	if _, ok := digits(word); !ok && string(word) != "-" && len(word) < 10 {
		return errFormat
	}
	r.tail(rest)
	return nil
}

// identity reads "host ident user", with a virtual host before them in Apache's vhost_combined.
func (r *record) identity(s []byte) bool {
	first, rest, ok := bytes.Cut(s, []byte(" "))
	if !ok || len(first) == 0 {
		return false
	}
	if second, after, ok := bytes.Cut(rest, []byte(" ")); ok && bytes.Count(after, []byte(" ")) >= 1 && portOf(first) > 0 && address(second) {
		first, rest = second, after
	}
	_, user, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(user) == 0 {
		return false
	}
	r.remote = first
	if string(user) != "-" && string(user) != `""` {
		r.user = user
	}
	return true
}

// tail reads what stands behind the size: referer, agent, and what people append.
func (r *record) tail(rest []byte) {
	for quotes := 0; ; {
		rest = bytes.TrimLeft(rest, " ")
		end := bytes.IndexAny(rest, ` ="`)
		var word []byte
		switch {
		case len(rest) == 0:
			return
		case end > 0 && rest[end] == '=':
			name := rest[:end]
			word, rest = value(rest[end+1:])
			r.named(name, word)
		case rest[0] == '"':
			word, rest = value(rest)
			switch quotes++; quotes {
			case 1:
				r.header("referer", word)
			case 2:
				r.header("user-agent", word)
			default:
				r.appended(word)
			}
		default:
			word, rest = field(rest)
			r.appended(word)
		}
	}
}

// appended takes a value without a name for what its form says: 1767323045.678 is a time, 0.012 the duration of the
// request in seconds, 12ms Traefik's. Whole numbers could be anything.
func (r *record) appended(word []byte) {
	if ms, ok := bytes.CutSuffix(word, []byte("ms")); ok {
		if took, ok := seconds(ms, time.Millisecond); ok {
			r.took, r.atStart = took, true
		}
		return
	}
	if bytes.IndexByte(word, '.') < 1 {
		return
	}
	if ns, exact, ok := epochTime(word); ok {
		r.stamp, r.exact = ns, exact
	} else if took, ok := seconds(word, time.Second); ok && r.took == 0 {
		r.took = took
	}
}

// named takes a value by the name that stands before it: nginx's variables, and the short names that its manuals use.
func (r *record) named(name, word []byte) {
	switch string(name) {
	case "rt", "request_time", "reqtime", "req_time":
		if took, ok := seconds(word, time.Second); ok {
			r.took = took
		}
	case "msec", "time_msec":
		if ns, exact, ok := epochTime(word); ok {
			r.stamp, r.exact = ns, exact
		}
	case "rl", "request_length":
		r.length = number(word)
	case "us", "upstream_status":
		r.upstream, _ = status(word)
	case "ra", "retry_after", "sent_http_retry_after":
		r.retryAfter = present(word)
	case "body", "body_hash", "request_body_hash":
		r.body = present(word)
	case "key", "idempotency_key", "http_idempotency_key":
		r.key = present(word)
	default:
		r.header(headerName(string(name)), present(word))
	}
}
