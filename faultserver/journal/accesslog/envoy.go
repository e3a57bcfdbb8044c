package accesslog

import (
	"bytes"
	"time"
)

func init() {
	register(Format{
		Name: "envoy", Rank: 40,
		Summary: "Envoy's default text format, and Istio's; the client is who x-forwarded-for names first",
		Source:  "Envoy, \"Access logging\", default format string and its example",
		Example: `[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"
`,
		lines: func(Options) parser { return envoy{} },
	})
}

// envoy reads [%START_TIME%] "%METHOD% %PATH% %PROTOCOL%" code flags received sent duration upstream-time and five quoted
// values. The time is when the request began.
type envoy struct{}

func (envoy) parse(line []byte, r *record) error {
	if len(line) < 24 || line[0] != '[' {
		return errFormat
	}
	word, rest := field(line[1:])
	if word[len(word)-1] != ']' {
		return errFormat
	}
	var ok bool
	if r.stamp, r.exact, ok = isoTime(word[:len(word)-1]); !ok || len(rest) < 2 {
		return errFormat
	}
	r.atStart = true
	request, rest, ok := quoted(rest[1:])
	if !ok {
		return errFormat
	}
	r.request(request)
	word, rest = field(rest)
	if r.status, ok = status(word); !ok {
		return errFormat
	}
	word, rest = field(rest)
	r.envoyFlags(string(word))
	// Istio and newer versions put details of the answer here; then the bytes received come some words later.
	for r.length < 0 && len(rest) > 0 {
		word, rest = value(bytes.TrimLeft(rest, " "))
		r.length = number(word)
	}
	_, rest = field(rest) // bytes sent
	word, rest = field(rest)
	if r.took, ok = seconds(word, time.Millisecond); !ok {
		return errFormat
	}
	_, rest = field(rest) // the upstream's time
	for i := range 3 {
		var text []byte
		text, rest = value(bytes.TrimLeft(rest, " "))
		switch i {
		case 0:
			r.remote = present(text)
		case 1:
			r.header("user-agent", text)
		case 2:
			r.header("x-request-id", text)
		}
	}
	if r.remote == nil {
		r.remote = downstream(rest)
	}
	return nil
}

// downstream finds the address that the request came from, which Istio's default format has after authority, upstream host,
// cluster and the two local addresses. It is a proxy's where one stands in front, which then says so in x-forwarded-for.
func downstream(rest []byte) (address []byte) {
	for range 6 {
		if address, rest = value(bytes.TrimLeft(rest, " ")); len(address) == 0 {
			return nil
		}
	}
	return present(address)
}

// envoyFlags reads response flags: the client left (DC, DPE), or the answer broke off under way (UC, UR and the like count
// only where no status says more).
func (r *record) envoyFlags(flags string) {
	for len(flags) >= 2 {
		switch flags[:2] {
		case "DC":
			r.left = true
		case "SI":
			r.cut = true
		}
		if len(flags) < 4 || flags[2] != ',' {
			return
		}
		flags = flags[3:]
	}
}
