package accesslog

import (
	"bytes"
	"time"
)

func init() {
	register(Format{
		Name: "haproxy", Rank: 30,
		Summary: "HAProxy's option httplog, with or without syslog's head",
		Source:  "HAProxy configuration manual, 8.2.3 \"HTTP log format\" (1.4 to 2.x); the first example is the manual's",
		Example: `Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"
10.0.1.2:33318 [06/Feb/2009:12:14:15.655] http-in static/srv1 0/0/30/-1/5000 -1 0 - - CH-- 1/1/1/1/0 0/0 "GET /slow HTTP/1.1"
`,
		lines: func(Options) parser { return haproxy{} },
	})
}

// haproxy reads client:port [accept date] frontend backend/server timers status bytes cookies state counters queues
// {headers} "request". The date is when the connection, or on a kept one the request, was accepted.
type haproxy struct{}

func (haproxy) parse(line []byte, r *record) error {
	open := bytes.Index(line, []byte(" ["))
	// Behind syslog's head, the first bracket may be that of the process id.
	for open > 0 && (len(line) < open+26 || line[open+4] != '/') {
		next := bytes.Index(line[open+2:], []byte(" ["))
		if next < 0 {
			return errFormat
		}
		open += 2 + next
	}
	if open < 3 {
		return errFormat
	}
	client := line[bytes.LastIndexByte(line[:open], ' ')+1 : open]
	if bytes.IndexByte(client, ':') < 0 {
		return errFormat
	}
	word, rest := field(line[open+2:])
	var ok bool
	if r.stamp, r.exact, ok = clfTime(bytes.TrimSuffix(word, []byte("]"))); !ok || r.exact == time.Second {
		return errFormat
	}
	r.remote, r.atStart = client[:bytes.LastIndexByte(client, ':')], true
	var words [8][]byte // frontend, backend, timers, status, bytes, two cookies, state
	for i := range words {
		words[i], rest = field(rest)
	}
	if !r.timers(words[2]) {
		return errFormat
	}
	if r.status, ok = status(words[3]); !ok {
		return errFormat
	}
	if state := words[7]; len(state) >= 2 {
		r.left = state[0] == 'C' || state[0] == 'c'
		r.cut = !r.left && state[0] != '-' && state[1] == 'D'
	}
	if quote := bytes.IndexByte(rest, '"'); quote >= 0 {
		request, _ := value(rest[quote:])
		r.request(bytes.TrimSuffix(request, []byte(`"`)))
	}
	return nil
}

// timers reads Tq/Tw/Tc/Tr/Tt in milliseconds; a plus before the last means that the log was written before the end. What
// came before the head was complete (Tq; its -1 means that it never was) is not part of the exchange.
func (r *record) timers(word []byte) bool {
	parts := bytes.Split(word, []byte("/"))
	if len(parts) < 4 {
		return false
	}
	total, ok := seconds(bytes.TrimPrefix(parts[len(parts)-1], []byte("+")), time.Millisecond)
	if !ok {
		return false
	}
	if before, ok := seconds(parts[0], time.Millisecond); ok && before <= total {
		r.stamp += int64(before)
		total -= before
	}
	r.took = total
	return true
}
