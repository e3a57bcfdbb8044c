package accesslog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

func init() {
	register(Format{
		Name: "json", Rank: 50,
		Summary: "JSON lines with the usual keys of nginx, Traefik, Envoy and others; --log-field names other keys",
		Source: "nginx, ngx_http_log_module (log_format escape=json with variables for names); Traefik, \"Access Logs\", available fields; " +
			"Envoy, \"Access logging\", format dictionaries",
		Example: `{"time_iso8601":"2026-01-02T03:04:05+00:00","msec":"1767323045.678","remote_addr":"203.0.113.7","request":"POST /driver/status HTTP/1.1","status":"400","request_time":"0.012","http_user_agent":"driver-app/4.2"}
{"ClientHost":"203.0.113.8","DownstreamStatus":200,"Duration":1337000,"RequestMethod":"GET","RequestPath":"/orders?page=2","RequestProtocol":"HTTP/1.1","StartUTC":"2026-01-02T03:04:06.123456789Z","time":"2026-01-02T03:04:06Z"}
{"start_time":"2026-01-02T03:04:07.250Z","method":"GET","path":"/orders","protocol":"HTTP/2","response_code":503,"response_flags":"-","bytes_received":0,"duration":26,"downstream_remote_address":"203.0.113.9:51234","user_agent":"vendor/1"}
`,
		lines: func(o Options) parser { return &jsonLines{mapped: o.Fields} },
	})
}

// Fields lists what can be mapped: the name of a field, and the keys that are looked for in JSON lines, the first that is
// there. Keys are compared without case; a dot goes into an object.
var Fields = []struct {
	Name string
	Keys []string
}{
	{"time", []string{"msec", "time_msec", "startutc", "startlocal", "start_time", "starttime", "ts", "@timestamp", "timestamp", "time_iso8601", "time_local", "time", "datetime", "date"}},
	{"duration", []string{"request_time", "duration", "duration_ms", "response_time", "response_time_ms", "latency", "latency_ms", "elapsed", "elapsed_ms", "request_time_ms", "took", "took_ms", "duration_us", "duration_ns", "duration_s", "httprequest.latency"}},
	{"remote", []string{"remote_addr", "clienthost", "client_ip", "clientip", "remote_ip", "downstream_remote_address", "x_forwarded_for", "clientaddr", "client", "remote", "ip", "src_ip", "source_ip", "httprequest.remoteip"}},
	{"user", []string{"remote_user", "clientusername", "user_id", "username", "user"}},
	{"method", []string{"request_method", "requestmethod", "method", "http_method", "verb", "httprequest.requestmethod"}},
	{"path", []string{"request_uri", "requestpath", "x_envoy_original_path", "path", "uri", "url", "http_path", "httprequest.requesturl"}},
	{"query", []string{"args", "query_string", "query"}},
	{"request", []string{"request"}},
	{"protocol", []string{"server_protocol", "requestprotocol", "protocol", "proto", "httprequest.protocol"}},
	{"status", []string{"status", "downstreamstatus", "response_code", "status_code", "statuscode", "code", "response_status", "httprequest.status"}},
	{"upstream", []string{"upstream_status", "originstatus"}},
	{"length", []string{"content_length", "http_content_length", "requestcontentsize", "bytes_received", "bytes_read", "request_length", "request_body_length", "httprequest.requestsize"}},
	{"body", []string{"request_body_hash", "body_hash", "body_sum", "body_sha256", "payload_hash"}},
	{"key", []string{"idempotency_key", "http_idempotency_key", "request_idempotency-key", "http_webhook_id", "webhook_id", "request_webhook-id"}},
	{"call", []string{"http_x_retrygate_call", "http_amz_sdk_invocation_id"}},
	{"retry-after", []string{"sent_http_retry_after", "retry_after", "downstream_retry-after"}},
	{"flags", []string{"response_flags"}},
}

// The places of Fields.
const (
	fTime = iota
	fDuration
	fRemote
	fUser
	fMethod
	fPath
	fQuery
	fRequest
	fProtocol
	fStatus
	fUpstream
	fLength
	fBody
	fKey
	fCall
	fRetryAfter
	fFlags
)

// jsonLines reads one object a line, by whatever names its keys have.
type jsonLines struct {
	mapped map[string]string
	flat   map[string]string
}

func (p *jsonLines) parse(line []byte, r *record) error {
	flat, err := p.flatten(line)
	if err != nil {
		return err
	}
	stamp, key := p.find(fTime)
	var ok bool
	if r.stamp, r.exact, ok = anyTime([]byte(stamp)); !ok {
		return errFormat
	}
	r.atStart = strings.HasPrefix(key, "start")
	if text, key := p.find(fDuration); text != "" {
		_, traefik := flat["downstreamstatus"]
		r.took = durationOf(text, key, traefik)
	}
	text, _ := p.find(fStatus)
	if r.status, ok = status([]byte(text)); !ok {
		return errFormat
	}
	p.fill(r)
	if r.method == nil && r.target == nil {
		return errFormat
	}
	for i := range r.headers {
		r.headers[i].value = p.headerValue(r.headers[i].name)
	}
	return nil
}

func (p *jsonLines) fill(r *record) {
	get := func(field int) []byte {
		text, _ := p.find(field)
		return present([]byte(text))
	}
	r.remote, r.user, r.method, r.target, r.query = get(fRemote), get(fUser), get(fMethod), get(fPath), get(fQuery)
	r.proto, r.body, r.key, r.call, r.retryAfter = get(fProtocol), get(fBody), get(fKey), get(fCall), get(fRetryAfter)
	r.upstream, _ = status(get(fUpstream))
	if length := get(fLength); length != nil {
		r.length = number(length)
	}
	if r.method == nil {
		r.request(get(fRequest))
	}
	if flags, _ := p.find(fFlags); flags != "" {
		r.envoyFlags(flags)
	}
	if r.status == 499 {
		r.status, r.left = 0, true
	}
}

// find looks a field up, by the mapped key or the usual ones.
func (p *jsonLines) find(field int) (text, key string) {
	if mapped := p.mapped[Fields[field].Name]; mapped != "" {
		key, _, _ := strings.Cut(strings.ToLower(mapped), ":")
		return p.flat[key], mapped
	}
	for _, key := range Fields[field].Keys {
		if text, ok := p.flat[key]; ok && text != "" && text != "-" {
			return text, key
		}
	}
	return "", ""
}

// headerValue finds a request header under the names that servers give it.
func (p *jsonLines) headerValue(name string) []byte {
	snake := strings.ReplaceAll(name, "-", "_")
	for _, key := range [...]string{"http_" + snake, "request_" + name, "request_headers." + name, "request.headers." + name, "headers." + name, snake, name} {
		if text := p.flat[key]; text != "" && text != "-" {
			return []byte(text)
		}
	}
	return nil
}

// flatten reads an object into lower-case keys with dots, values as text. Of a list it takes the first value.
func (p *jsonLines) flatten(line []byte) (map[string]string, error) {
	if len(line) < 2 || line[0] != '{' {
		return nil, errFormat
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return nil, errFormat
	}
	if p.flat == nil {
		p.flat = map[string]string{}
	}
	clear(p.flat)
	flattenInto(p.flat, "", object, 0)
	return p.flat, nil
}

// deepest is how far into objects a key may lead.
const deepest = 4

func flattenInto(flat map[string]string, prefix string, object map[string]any, depth int) {
	for key, v := range object {
		key = prefix + strings.ToLower(key)
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		switch v := v.(type) {
		case string:
			flat[key] = v
		case json.Number:
			flat[key] = v.String()
		case bool:
			flat[key] = strconv.FormatBool(v)
		case map[string]any:
			if depth < deepest {
				flattenInto(flat, key+".", v, depth+1)
			}
		}
	}
}

// anyTime reads a time in any of the forms that logs write.
func anyTime(s []byte) (ns int64, exact time.Duration, ok bool) {
	if ns, exact, ok = isoTime(s); ok {
		return ns, exact, ok
	}
	if ns, exact, ok = epochTime(s); ok {
		return ns, exact, ok
	}
	return clfTime(bytes.Trim(s, "[]"))
}

var units = map[string]time.Duration{"ns": 1, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}

// durationOf reads a duration by the unit that it carries, that was mapped ("latency:ms"), that its key ends with, or that
// servers use: Traefik writes nanoseconds, others seconds where there is a fraction, and else milliseconds.
func durationOf(text, key string, traefik bool) time.Duration {
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return max(0, min(d, longest))
	}
	_, suffix, mapped := strings.Cut(key, ":")
	if !mapped {
		suffix = key[strings.LastIndexByte(key, '_')+1:]
	}
	unit, known := units[suffix]
	switch {
	case known:
	case traefik && key == "duration":
		unit = time.Nanosecond
	case key == "request_time", strings.Contains(text, "."):
		unit = time.Second
	default:
		unit = time.Millisecond
	}
	d, _ := seconds([]byte(text), unit)
	return d
}
