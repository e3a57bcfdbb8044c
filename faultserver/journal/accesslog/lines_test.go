package accesslog_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// TestLines reads single lines out of public documentation, and what people make of the formats.
func TestLines(t *testing.T) {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	rows := []struct {
		name, log string
		began     string // arrival of the first entry
		exact     time.Duration
		want      journal.Entry // of the last; Seq, At and Auth are left out
	}{
		{"Apache HTTP Server 2.4, Log Files: common",
			`127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326`,
			"2000-10-10T20:55:36Z", time.Second,
			journal.Entry{Client: "127.0.0.1 frank", Method: "GET", Path: "/apache_pb.gif", Proto: "HTTP/1.0", BodyWhole: true, Status: 200}},
		{"Apache vhost_combined, an escaped quote",
			`www.example.com:443 203.0.113.7 - - [10/Oct/2000:13:55:36 +0000] "POST /a\"b HTTP/1.1" 400 0 "-" "x \"y\" z"`,
			"2000-10-10T13:55:36Z", time.Second,
			journal.Entry{Client: "203.0.113.7", Method: "POST", Path: `/a\"b`, Proto: "HTTP/1.1", Early: true, Status: 400}},
		{"nginx combined with $request_time and $msec",
			`203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "PUT /x HTTP/2.0" 502 0 "-" "curl/8" 0.250 1767323045.750`,
			"2026-01-02T03:04:05.5Z", time.Millisecond,
			journal.Entry{Client: "203.0.113.7", Method: "PUT", Path: "/x", Proto: "HTTP/2.0", Took: ms(250), Early: true, Status: 502}},
		{"nginx combined with $request_time only",
			`203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/2.0" 200 10 "-" "curl/8" 1.500`,
			"2026-01-02T03:04:04Z", time.Second,
			journal.Entry{Client: "203.0.113.7", Method: "GET", Path: "/x", Proto: "HTTP/2.0", Took: ms(1000), BodyWhole: true, Status: 200}},
		{"nginx blog, named: rt= uct= uht= urt= in quotes",
			`2001:db8::7 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 10 "-" "curl/8" rt=0.120 uct="0.000" uht="0.110" urt="0.119"`,
			"2026-01-02T03:04:05Z", time.Second,
			journal.Entry{Client: "2001:db8::7", Method: "GET", Path: "/", Proto: "HTTP/1.1", BodyWhole: true, Status: 200}},
		{"nginx 499: the client closed the connection",
			`203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 499 0 "-" "-" rt=1.000`,
			"2026-01-02T03:04:04Z", time.Second,
			journal.Entry{Client: "203.0.113.7", Method: "GET", Path: "/", Proto: "HTTP/1.1", Took: ms(1000), Gone: ms(1000), BodyWhole: true}},
		{"nginx, a request line that is none",
			`203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] "\x16\x03\x01\x02\x00" 400 157 "-" "-"`,
			"2026-01-02T03:04:05Z", time.Second, journal.Entry{Client: "203.0.113.7", Early: true, Status: 400}},
		{"Traefik, Access Logs: common log format",
			`10.244.0.1 - - [11/Aug/2025:10:11:12 +0000] "GET /whoami HTTP/1.1" 200 420 "-" "curl/8" 17 "whoami@docker" "http://10.0.0.5:80" 3ms`,
			"2025-08-11T10:11:12Z", time.Second,
			journal.Entry{Client: "10.244.0.1", Method: "GET", Path: "/whoami", Proto: "HTTP/1.1", BodyWhole: true, Status: 200}},
		{"Envoy, Access logging: default format, the manual's example",
			`[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"`,
			"2016-04-15T20:17:00.31Z", time.Millisecond,
			journal.Entry{Client: "10.0.35.28", Method: "POST", Path: "/api/v1/locations", Proto: "HTTP/2", Took: ms(226), BodyLen: 154, Early: true, Status: 204}},
		{"Istio's default: response code details and more behind the flags",
			`[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0-DEV" "84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin.foo.svc.cluster.local default`,
			"2020-11-25T21:26:18.409Z", time.Millisecond,
			journal.Entry{Client: "10.44.1.23", Method: "GET", Path: "/status/418", Proto: "HTTP/1.1", Took: ms(3), BodyWhole: true, Status: 418}},
		{"Envoy, a client that left",
			`[2016-04-15T20:17:00.310Z] "GET / HTTP/1.1" 0 DC 0 0 500 - "10.0.35.28, 10.0.0.9" "-" "-" "-" "-"`,
			"2016-04-15T20:17:00.31Z", time.Millisecond,
			journal.Entry{Client: "10.0.35.28", Method: "GET", Path: "/", Proto: "HTTP/1.1", Took: ms(500), Gone: ms(500), BodyWhole: true}},
		{"HAProxy configuration manual 8.2.3: waiting for the head is not part of it",
			`Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"`,
			"2009-02-06T12:14:14.665Z", time.Millisecond,
			journal.Entry{Client: "10.0.1.2", Method: "GET", Path: "/index.html", Proto: "HTTP/1.1", Took: ms(99), BodyWhole: true, Status: 200}},
		{"AWS, user guide: target group without a target (502), https",
			`https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/a?b=c HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1" "www.example.com" "arn:aws:y" 1 2018-07-02T22:22:48.364000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-"`,
			"2018-07-02T22:23:00.015641Z", time.Microsecond,
			journal.Entry{Client: "192.168.131.39", Method: "GET", Path: "/a", Query: "b=c", Proto: "HTTP/1.1", Took: ms(171), BodyWhole: true, Status: 200, Upstream: 200}},
		{"AWS 460: the client closed the connection",
			`h2 2018-07-02T22:23:01.000000Z app/lb/1 192.168.131.39:2817 - -1 -1 -1 460 - 34 0 "POST http://www.example.com:80/x HTTP/2.0" "-" - - - "-" "-" "-" 0 2018-07-02T22:22:48.364000Z "-" "-" "-" "-" "-" "-" "-"`,
			"2018-07-02T22:23:01Z", time.Microsecond,
			journal.Entry{Client: "192.168.131.39", Method: "POST", Path: "/x", Proto: "HTTP/2.0", Gone: 1, BodyLen: 34, Early: true}},
		{"Caddy, a POST under an idempotency key",
			`{"level":"error","ts":1646861401.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"10.0.0.1","client_ip":"203.0.113.7","proto":"HTTP/1.1","method":"POST","host":"x","uri":"/pay?token=abc","headers":{"Idempotency-Key":["k1"],"Authorization":["REDACTED"]}},"bytes_read":7,"user_id":"","duration":0.25,"size":0,"status":503,"resp_headers":{"Retry-After":["5"]}}`,
			"2022-03-09T21:30:01.25Z", time.Microsecond,
			journal.Entry{Client: "203.0.113.7", Method: "POST", Path: "/pay", Query: "token=~ba7816bf8f01", Key: "6ab9f1eb8f7d", Proto: "HTTP/1.1", Took: ms(250), BodyLen: 7, Early: true, Status: 503, RetryAfter: "5"}},
		{"Google Cloud's httpRequest, nested",
			`{"timestamp":"2026-01-02T03:04:05.250Z","httpRequest":{"requestMethod":"GET","requestUrl":"https://x.example/orders?a=1","status":503,"remoteIp":"203.0.113.7","latency":"0.5s","protocol":"HTTP/1.1"}}`,
			"2026-01-02T03:04:04.75Z", time.Millisecond,
			journal.Entry{Client: "203.0.113.7", Method: "GET", Path: "/orders", Query: "a=1", Proto: "HTTP/1.1", Took: ms(500), BodyWhole: true, Status: 503}},
		{"Traefik's JSON: nanoseconds since StartUTC",
			`{"ClientHost":"203.0.113.8","DownstreamStatus":429,"Duration":1337000,"RequestMethod":"GET","RequestPath":"/o","StartUTC":"2026-01-02T03:04:06.123456789Z","downstream_Retry-After":"7","time":"2026-01-02T03:04:06Z"}`,
			"2026-01-02T03:04:06.123456789Z", time.Nanosecond,
			journal.Entry{Client: "203.0.113.8", Method: "GET", Path: "/o", Took: ms(1.337), BodyWhole: true, Status: 429, RetryAfter: "7"}},
		{"W3C draft: seconds with a fraction, quoted text, a date of its own line",
			"#Version: 1.0\n#Date: 1996-01-12 00:00:00\n#Fields: time cs-method cs-uri cs(Referer) sc-status time-taken\n" +
				`00:34:23 GET /foo/bar.html "a b" 503 0.250`,
			"1996-01-12T00:34:23Z", time.Second,
			journal.Entry{Client: "-", Method: "GET", Path: "/foo/bar.html", BodyWhole: true, Status: 503}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			entries, s := read(t, accesslog.Options{}, text("log", row.log))
			if s.Lines() > 0 || len(entries) != 1 {
				t.Fatalf("%d entries, malformed: %q", len(entries), s.Malformed)
			}
			got := entries[0]
			got.Seq, got.At, got.Auth = 0, 0, 0
			if got != row.want {
				t.Errorf("got\n%+v, want\n%+v", got, row.want)
			}
			if began := s.Began.Format(time.RFC3339Nano); began != row.began || s.Resolution != row.exact {
				t.Errorf("arrival %s to %s, want %s to %s", began, s.Resolution, row.began, row.exact)
			}
		})
	}
}
