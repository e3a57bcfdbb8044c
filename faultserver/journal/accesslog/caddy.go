package accesslog

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

func init() {
	register(Format{
		Name: "caddy", Rank: 15,
		Summary: "Caddy's JSON access log",
		Source:  "Caddy, \"How Logging Works\" and \"log (Caddyfile directive)\": ts is when the line was written, duration is in seconds",
		Example: `{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"41342","client_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/","headers":{"User-Agent":["curl/7.82.0"],"Accept":["*/*"]}},"bytes_read":0,"user_id":"","duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}
`,
		lines: func(Options) parser { return caddy{} },
	})
}

// caddy reads the entries of http.log.access; other lines of the same log are none.
type caddy struct{}

type caddyLine struct {
	Time     json.RawMessage `json:"ts"`
	Message  string          `json:"msg"`
	Duration json.RawMessage `json:"duration"`
	Status   *int            `json:"status"`
	Read     int64           `json:"bytes_read"`
	User     string          `json:"user_id"`
	Request  *struct {
		Client  string              `json:"client_ip"`
		Remote  string              `json:"remote_ip"`
		Address string              `json:"remote_addr"` // before 2.5
		Method  string              `json:"method"`
		URI     string              `json:"uri"`
		Proto   string              `json:"proto"`
		Headers map[string][]string `json:"headers"`
	} `json:"request"`
	Answer map[string][]string `json:"resp_headers"`
}

func (caddy) parse(line []byte, r *record) error {
	if line[0] != '{' || !bytes.Contains(line, []byte(`"request":{`)) {
		return errFormat
	}
	var l caddyLine
	if json.Unmarshal(line, &l) != nil || l.Request == nil || l.Status == nil || l.Request.Method == "" {
		return errFormat
	}
	var ok bool
	if r.stamp, r.exact, ok = anyTime(bytes.Trim(l.Time, `"`)); !ok {
		return errFormat
	}
	if r.exact < time.Second { // a double has microseconds for such a time, whatever digits are printed
		r.exact = time.Microsecond
	}
	if text := strings.Trim(string(l.Duration), `"`); text != "" {
		if d, err := time.ParseDuration(text); err == nil {
			r.took = max(0, min(d, longest))
		} else if r.took, ok = seconds([]byte(text), time.Second); !ok {
			return errFormat
		}
	}
	if *l.Status != 0 && (*l.Status < 100 || *l.Status > 999) {
		return errFormat
	}
	q := l.Request
	r.status, r.left = *l.Status, *l.Status == 0
	r.remote, r.user = []byte(firstOf(q.Client, q.Remote, q.Address)), present([]byte(l.User))
	r.method, r.target, r.proto, r.length = []byte(q.Method), []byte(q.URI), []byte(q.Proto), l.Read
	for name, values := range q.Headers {
		if len(values) == 0 || values[0] == "REDACTED" {
			continue
		}
		name = strings.ToLower(name)
		switch name {
		case "idempotency-key", "webhook-id":
			r.key = []byte(values[0])
		}
		r.header(name, []byte(values[0]))
	}
	if after := l.Answer["Retry-After"]; len(after) > 0 {
		r.retryAfter = []byte(after[0])
	}
	return nil
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
