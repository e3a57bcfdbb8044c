package accesslog

import (
	"bytes"
	"strings"
	"time"
)

func init() {
	register(Format{
		Name: "w3c", Rank: 10,
		Summary: "W3C extended, as IIS writes it: a #Fields line says what follows",
		Source: "W3C working draft \"Extended Log File Format\" (WD-logfile-960323); Microsoft, \"W3C Extended Log File Examples\" (IIS 6.0), " +
			"whose intranet site stands first",
		Example: `#Software: Microsoft Internet Information Services 6.0
#Version: 1.0
#Date: 2002-05-02 17:42:15
#Fields: date time c-ip cs-username s-ip s-port cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)
2002-05-02 17:42:15 172.22.255.255 - 172.30.255.255 80 GET /images/picture.jpg - 200 Mozilla/4.0+(compatible;MSIE+5.5;+Windows+2000+Server)
#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs-bytes time-taken
2026-01-02 03:04:05 203.0.113.7 POST /driver/status - 400 380 12
`,
		lines: func(Options) parser { return &w3c{} },
	})
}

// w3c reads lines whose fields a directive named. The time is UTC and that of the end; time-taken is in milliseconds as IIS
// writes it, and in seconds where it has a fraction, as the draft has it.
type w3c struct {
	fields []string
	date   []byte // of a #Date directive, for lines that have only a time
}

func (p *w3c) parse(line []byte, r *record) error {
	if line[0] == '#' {
		return p.directive(line)
	}
	if p.fields == nil {
		return errFormat
	}
	var date, clock []byte
	rest, seen := line, 0
	for _, name := range p.fields {
		var word []byte
		if rest = bytes.TrimLeft(rest, " \t"); len(rest) == 0 {
			break
		}
		if i := bytes.IndexByte(rest, '\t'); i >= 0 && bytes.IndexByte(rest, ' ') < 0 {
			word, rest = rest[:i], rest[i:]
		} else {
			word, rest = value(rest)
		}
		seen++
		switch name {
		case "date":
			date = word
		case "time":
			clock = word
		default:
			if !r.w3cField(name, present(word)) {
				return errFormat
			}
		}
	}
	if date == nil {
		date = p.date
	}
	var ok bool
	r.stamp, r.exact, ok = isoTime(append(append(append(make([]byte, 0, 32), date...), ' '), clock...))
	if !ok || seen < len(p.fields) {
		return errFormat
	}
	return nil
}

func (p *w3c) directive(line []byte) error {
	name, rest, _ := strings.Cut(string(line[1:]), ":")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "fields":
		if p.fields = strings.Fields(strings.ToLower(rest)); len(p.fields) == 0 {
			return errFormat
		}
	case "date":
		date, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		p.date = []byte(date)
	}
	return errComment
}

// w3cField takes one value by its field's name; false if it cannot be.
func (r *record) w3cField(name string, word []byte) (ok bool) {
	switch name {
	case "c-ip":
		r.remote = word
	case "cs-username", "cs(username)":
		r.user = word
	case "cs-method":
		r.method = word
	case "cs-uri-stem", "cs-uri":
		r.target = word
	case "cs-uri-query":
		r.query = word
	case "cs-version":
		r.proto = word
	case "cs-bytes":
		r.length = number(word) // with the head: alike for like requests
	case "sc-status":
		r.status, ok = status(word)
		return ok || word == nil
	case "time-taken":
		unit := time.Millisecond
		if bytes.IndexByte(word, '.') >= 0 {
			unit = time.Second
		}
		r.took, ok = seconds(word, unit)
		return ok || word == nil
	case "sc(retry-after)":
		r.retryAfter = word
	default:
		if header, ok := strings.CutPrefix(name, "cs("); ok {
			header = strings.TrimSuffix(header, ")")
			if header == "idempotency-key" {
				r.key = word
			}
			r.header(header, word)
		}
	}
	return true
}
