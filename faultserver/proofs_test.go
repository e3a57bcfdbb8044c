package faultserver_test

import "time"

const (
	aReset = "stream error" // of HTTP/2, as Go's client tells it
	ms     = time.Millisecond
)

// Faults that break the connection off.
func init() {
	prove("reset",
		proof{fault: "reset", http1: "reset by peer", http2: aReset + "|INTERNAL_ERROR", curl1: "exit 56|reset by peer", curl2: "exit 92", cut: true},
		proof{fault: "{reset: {after: half}}", upload: 1 << 20, http1: "error", http2: aReset, curl1: "exit 5", curl2: "exit 92", cut: true, early: true},
		proof{fault: "{reset: {after: head}}", upload: 1 << 20, http1: "error", http2: aReset, curl1: "exit 5", curl2: "exit 92", cut: true, early: true},
	)
	prove("close",
		proof{fault: "close", upload: 5, http1: "EOF", http2: aReset, curl1: "exit 52|empty reply", curl2: "exit 92", cut: true},
		proof{fault: "{close: {after: 1024}}", upload: 1 << 20, http1: "error", http2: aReset, curl1: "exit", curl2: "exit 92", cut: true, early: true},
	)
	prove("garbage",
		proof{fault: "garbage", http1: "malformed HTTP", http2: aReset, curl1: "exit 1|received http/0.9", curl2: "exit 92", cut: true},
		proof{fault: `{garbage: {line: "HTTP/1.1 2OO OK"}}`, http1: `malformed HTTP status code "2OO"`, http2: aReset, curl1: "exit", curl2: "exit 92", cut: true},
		proof{fault: `{garbage: {line: "HTP/1.1 200 OK"}}`, http1: `malformed HTTP version "HTP/1.1"`, http2: aReset, curl1: "exit 1", curl2: "exit 92", cut: true},
	)
	prove("hang",
		proof{fault: "hang", patience: 200 * ms, least: 200 * ms, http1: "deadline", http2: "deadline", curl1: "exit 28", curl2: "exit 28", cut: true, gone: true},
		proof{fault: "{hang: {for: 100ms}}", upload: 5, least: 100 * ms, http1: "EOF", http2: aReset, curl1: "exit 52", curl2: "exit 92", cut: true},
		proof{fault: "{hang: {interim: 100}}", patience: 200 * ms, http1: "interim 100|deadline", http2: "interim 100|deadline", curl1: "exit 28|HTTP/1.1 100 Continue", curl2: "exit 28|HTTP/2 100", cut: true, gone: true},
		proof{fault: "{hang: {interim: 102}}", patience: 200 * ms, http1: "interim 102|deadline", http2: "interim 102|deadline", curl1: "exit 28|HTTP/1.1 102 Processing", curl2: "exit 28|HTTP/2 102", cut: true, gone: true},
		proof{fault: "{hang: {interim: 103}}", patience: 200 * ms, http1: "interim 103|deadline", http2: "interim 103|deadline", curl1: "exit 28|HTTP/1.1 103 Early Hints", curl2: "exit 28|HTTP/2 103", cut: true, gone: true},
	)
	prove("fail-before",
		proof{fault: "fail-before", upload: 5, http1: "reset by peer", http2: aReset, curl1: "exit 56", curl2: "exit 92", cut: true},
		proof{fault: "{fail-before: {by: close}}", upload: 5, http1: "EOF", http2: aReset, curl1: "exit 52", curl2: "exit 92", cut: true},
		proof{fault: "{fail-before: {by: 502}}", upload: 5, http1: "502|Bad Gateway", http2: "502", curl1: "exit 0|502", curl2: "exit 0|502", status: 502},
	)
	prove("lose-answer",
		proof{fault: "lose-answer", upload: 5, http1: "reset by peer", http2: aReset, curl1: "exit 56", curl2: "exit 92", cut: true, upstream: 200},
		proof{fault: "{lose-answer: {by: close}}", upload: 5, http1: "EOF", http2: aReset, curl1: "exit 52", curl2: "exit 92", cut: true, upstream: 200},
		proof{fault: "{lose-answer: {by: 502}}", upload: 5, http1: "502|Bad Gateway", http2: "502", curl1: "exit 0|502", curl2: "exit 0|502", status: 502, upstream: 200},
	)
}

// Faults that answer.
func init() {
	prove("status",
		proof{fault: "503", http1: `503 "{\"title\":\"Service Unavailable\",\"status\":503}\n"|Content-Type: "application/problem+json"`, http2: "503|Service Unavailable",
			curl1: "exit 0 |HTTP/1.1 503 Service Unavailable", curl2: "exit 0|HTTP/2 503", status: 503},
		proof{fault: "{status: {code: 429, retry-after: 1500ms}}", http1: `Retry-After: "2"`, http2: `Retry-After: "2"`, curl1: `retry-after: 2\r\n`, curl2: `retry-after: 2\r\n`, status: 429},
		proof{fault: `{status: {code: 503, retry-after: {raw: " 3 "}}}`, http1: `503|Retry-After: "3"`, http2: "503|Retry-After", curl1: "exit 0|Retry-After:  3 \"", curl2: "exit", status: 503},
		proof{fault: "{status: {code: 400, retry-after: {date: -1h, form: asctime}, problem: {type: 'https://t.test/p', detail: no}}}", http1: `400|https://t.test/p\",\"title\":\"Bad Request\",\"status\":400,\"detail\":\"no|Retry-After: `,
			http2: `400|https://t.test/p|Retry-After: `, curl1: "exit 0|400 Bad Request|Retry-After: |application/problem+json", curl2: "exit 0|400|retry-after", status: 400},
		// On HTTP/2 the server says that it wants no more of the upload, which curl before 8.0 takes for an error.
		proof{fault: "{status: {code: 413, after: head}}", upload: 1 << 20, http1: "413", http2: "413", curl1: "HTTP/1.1 413", curl2: "exit", status: 413, early: true},
	)
	prove("oversize",
		proof{fault: "{oversize: {bytes: 3000000}}", http1: `200|3000000 bytes) then <nil>|Content-Length: "3000000"`, http2: `3000000 bytes) then <nil>`, curl1: "exit 0|(3000000 bytes)|Content-Length: 3000000", curl2: "exit 0|(3000000 bytes)", status: 200},
		proof{fault: "{oversize: {bytes: 3000000, chunked: true}}", http1: "200|3000000 bytes) then <nil>", http2: "3000000 bytes) then <nil>", curl1: "exit 0|(3000000 bytes)|Transfer-Encoding: chunked", curl2: "exit 0|(3000000 bytes)", status: 200},
	)
	prove("redirect",
		proof{fault: "redirect", http1: `302|Location: "/bad"`, http2: `302|Location: "/bad"`, curl1: `302 Found|Location: /bad\r\n`, curl2: `302|location: /bad\r\n`, status: 302},
		proof{fault: "{redirect: {code: 308, loop: 2}}", http1: `308|Location: "/bad?retrygate-hop=1"`, http2: `308|Location: "/bad?retrygate-hop=1"`, curl1: "308", curl2: "308", status: 308},
		proof{fault: "{redirect: {code: 301, to: 'http://other.test/x', retry-after: 1s}}", http1: `301|Location: "http://other.test/x"|Retry-After: "1"`, http2: "301", curl1: "Location: http://other.test/x", curl2: "301", status: 301},
	)
	prove("auth",
		proof{fault: "auth", http1: `401|Www-Authenticate: "Bearer realm=\"retrygate\""`, http2: "401", curl1: `401 Unauthorized|WWW-Authenticate: Bearer`, curl2: "401", status: 401},
		proof{fault: "{auth: {refresh: /bad, lives: 1500ms}}", http1: `200 "{\"access_token\":\"|\"token_type\":\"Bearer\",\"expires_in\":1}\n"`, http2: "access_token", curl1: "access_token", curl2: "access_token", status: 200},
		proof{fault: "{auth: {refresh: /bad, fails: 503}}", http1: `503`, http2: "503", curl1: "503", curl2: "503", status: 503},
	)
	prove("ratelimit",
		proof{fault: "{ratelimit: {limits: [2/1m]}}", after: 2, http1: `429|Retry-After: "60"|Quota Exceeded`, http2: `429|Retry-After: "60"`, curl1: "429|Retry-After: 60", curl2: "429|Retry-After: 60", status: 429},
	)
}

// Faults that change what the backend answers.
func init() {
	prove("gather",
		proof{fault: "{gather: {requests: 30, for: 80ms}}", least: 80 * ms, http1: "200|ok", http2: "200|ok", curl1: "exit 0|ok", curl2: "exit 0|ok", status: 200, upstream: 200},
	)
	prove("latency",
		proof{fault: "{latency: {fixed: 80ms}}", least: 80 * ms, http1: "200|ok", http2: "200|ok", curl1: "exit 0|ok", curl2: "exit 0|ok", status: 200, upstream: 200},
		proof{fault: "{latency: {fixed: 80ms, at: after}}", least: 80 * ms, http1: "200|ok", http2: "200|ok", curl1: "exit 0|ok", curl2: "exit 0|ok", status: 200, upstream: 200},
	)
	prove("capacity",
		proof{fault: "{capacity: {rate: 20}}", least: 50 * ms, http1: "200|ok", http2: "200|ok", curl1: "exit 0|ok", curl2: "exit 0|ok", status: 200, upstream: 200},
	)
	prove("drip",
		proof{fault: "{drip: {bytes: 4, every: 30ms}}", least: 90 * ms, http1: "200|ok|16 bytes) then <nil>", http2: "16 bytes", curl1: "exit 0|(16 bytes)", curl2: "exit 0|(16 bytes)", status: 200, upstream: 200},
	)
	prove("slow-head",
		proof{fault: "{slow-head: {bytes: 16, every: 10ms}}", least: 40 * ms, http1: "200|ok|16 bytes) then <nil>", http2: "200|16 bytes) then <nil>", curl1: "exit 0|200 OK|(16 bytes)", curl2: "exit 0|(16 bytes)", status: 200, upstream: 200},
		proof{fault: "{slow-head: {from: headers, bytes: 1, every: 30s}}", patience: 200 * ms, least: 200 * ms, http1: "deadline", curl1: "exit 28|HTTP/1.1 200 OK", cut: true, gone: true, status: 200, upstream: 200},
	)
	prove("truncate",
		proof{fault: "{truncate: {bytes: 3, length: 10}}", http1: `200 "{\"s"|3 bytes) then unexpected EOF|Content-Length: "10"`, http2: "3 bytes) then stream error", curl1: `exit 18|Content-Length: 10|(3 bytes)`, curl2: "exit 92", cut: true, status: 200, upstream: 200},
		proof{fault: "truncate", http1: `8 bytes) then unexpected EOF|Content-Length: "16"`, http2: "8 bytes) then stream error", curl1: `exit 18|(8 bytes)`, curl2: "exit 92", cut: true, status: 200, upstream: 200},
	)
	prove("wrong-length",
		proof{fault: "{wrong-length: {by: 5}}", http1: `16 bytes) then unexpected EOF|Content-Length: "21"`, http2: `16 bytes) then unexpected EOF|Content-Length: "21"`,
			curl1: `exit 18|Content-Length: 21|(16 bytes)`, curl2: "exit 92|PROTOCOL_ERROR", cut: true, status: 200, upstream: 200},
		proof{fault: "{wrong-length: {by: -5}}", http1: `11 bytes) then <nil>|Content-Length: "11"`, http2: `11 bytes) then net/http: server replied with more than declared Content-Length`,
			curl1: `exit 0|Content-Length: 11|(11 bytes)`, curl2: "exit 92|PROTOCOL_ERROR", cut: true, status: 200, upstream: 200},
	)
	prove("bad-chunk",
		proof{fault: "{bad-chunk: {bytes: 5}}", http1: "200|5 bytes) then invalid byte in chunk length", http2: "5 bytes) then stream error", curl1: "exit 56|chunk|(5 bytes)", curl2: "exit 92", cut: true, status: 200, upstream: 200},
		proof{fault: "bad-chunk", http1: "200|0 bytes) then invalid byte in chunk length", http2: "0 bytes) then stream error", curl1: "exit 56|chunk|(0 bytes)", curl2: "exit 92", cut: true, status: 200, upstream: 200},
	)
	prove("wrong-encoding",
		proof{fault: "wrong-encoding", http1: `200|then gzip: invalid header`, http2: "then gzip: invalid header", curl1: `exit 0|Content-Encoding: gzip|` + "status", curl2: "exit 0|content-encoding: gzip|status", status: 200, upstream: 200},
		proof{fault: "{wrong-encoding: {says: br}}", http1: `200|16 bytes) then <nil>|Content-Encoding: "br"`, http2: "br", curl1: `exit 0|Content-Encoding: br`, curl2: "exit 0", status: 200, upstream: 200},
	)
	prove("header-flood", // how much curl reads differs from version to version
		proof{fault: "{header-flood: {headers: 100, bytes: 8192}}", http1: `200|103 headers`, http2: "103 headers", curl1: "exit", curl2: "exit", status: 200, upstream: 200},
		proof{fault: "{header-flood: {headers: 1400, bytes: 8192}}", http1: "error|exceeded 10485760 bytes", http2: "error", curl1: "exit", curl2: "exit", status: 200, upstream: 200},
	)
}

// Faults of HTTP/2, which leave HTTP/1.1 alone.
func init() {
	const ok = `200 "{\"status\":\"ok\"}`
	prove("refused-stream",
		proof{fault: "refused-stream", upload: 5, once: true, http1: ok, http2: aReset + "|REFUSED_STREAM", curl1: "exit 0|200 OK", curl2: "exit", cut: true, early: true},
	)
	prove("stream-reset",
		proof{fault: "stream-reset", upload: 5, http1: ok, http2: aReset + "|INTERNAL_ERROR", curl1: "exit 0|200 OK", curl2: "exit 92|INTERNAL_ERROR", cut: true},
		proof{fault: "{stream-reset: {code: cancel}}", http1: ok, http2: aReset + "|CANCEL", curl1: "exit 0|200 OK", curl2: "exit 92|CANCEL", cut: true},
		proof{fault: "{stream-reset: {code: enhance-your-calm, after: half}}", upload: 1 << 20, http1: ok, http2: aReset + "|ENHANCE_YOUR_CALM", curl1: "exit 0|200 OK", curl2: "exit 92|ENHANCE_YOUR_CALM", cut: true, early: true},
	)
	prove("goaway",
		proof{fault: "goaway", upload: 5, once: true, http1: ok, http2: "graceful shutdown GOAWAY", curl1: "exit 0|200 OK", curl2: "exit", cut: true, early: true},
		proof{fault: "{goaway: {code: enhance-your-calm, debug: bye}}", upload: 5, once: true, http1: ok, http2: "GOAWAY", curl1: "exit 0|200 OK", curl2: "exit", cut: true, early: true},
		proof{fault: "{goaway: {last: this}}", http1: ok, http2: "200|ok", curl1: "exit 0|200 OK", curl2: "exit 0|HTTP/2 200|ok", status: 200, upstream: 200},
	)
}
