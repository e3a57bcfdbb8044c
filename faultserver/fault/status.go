package fault

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "status",
		Summary: "answers with a status, headers, body or problem document and any form of Retry-After of its own, also before the body is read",
		Example: "{status: {code: 429, retry-after: 2s}}",
		New:     func() Fault { return &Status{Code: http.StatusServiceUnavailable} },
		Role:    Final,
	})
}

// The final statuses that a server may send; net/http takes no others.
const minStatus, maxStatus = 200, 599

// Status answers in the backend's place. The headers may hold whatever a vendor tells clients by (Retry-After-Ms,
// X-Should-Retry, RateLimit). With Connection: close, the connection is closed afterwards.
type Status struct {
	Code    int               `yaml:"code" doc:"200 to 599; default 503"`
	Headers map[string]string `yaml:"headers" doc:"set in addition"`
	Body    string            `yaml:"body" doc:"default: for 400 and above, a problem document"`
	Problem *Problem          `yaml:"problem" doc:"the problem document (RFC 9457) to send as the body: type, title, detail, instance"`

	RetryAfter *RetryAfter `yaml:"retry-after" doc:"2s for seconds, {date: 3s} for an HTTP-date (form: rfc850 or asctime, skew: 1m), {raw: soon} for anything"`

	// After is how much of the request is read before the answer. If the connection stays open, HTTP/1 reads the rest
	// afterwards; HTTP/2 tells the client to stop.
	After Extent `yaml:"after" doc:"how much of the request is read before: body (default), half, head, or a number of bytes"`
}

// Early reports whether the answer comes before the body was read.
func (s *Status) Early() bool { return s.After.early() }

// Inject answers the request; next is not called.
func (s *Status) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	code, body := s.answer(w.Header(), now(r.Context()))
	switch {
	case s.Early():
		s.early(w, r, code, body)
	case s.RetryAfter.spaced() && r.ProtoMajor < 2:
		conn := byHand(w, r, code)
		_, _ = conn.Write(append(head(code, w.Header()), written(r, code, body)...))
		_ = conn.Close()
	default:
		send(w, r, code, body)
	}
}

// early answers in the middle of the request.
func (s *Status) early(w http.ResponseWriter, r *http.Request, code int, body string) {
	c := http.NewResponseController(w)
	_ = c.EnableFullDuplex() // else HTTP/1 reads on before it answers; HTTP/2 does not
	s.After.read(r)
	send(w, r, code, body)
	_ = c.Flush()
	if r.ProtoMajor < 2 && !strings.EqualFold(w.Header().Get("Connection"), "close") {
		drain(r) // on HTTP/2 the end of the answer would wait, and the client may wait for that
	}
}

// answer fills in the headers, and returns what goes with them.
func (s *Status) answer(header http.Header, now time.Time) (code int, body string) {
	code, body = s.Code, s.Body
	if code == 0 {
		code = http.StatusServiceUnavailable
	}
	switch {
	case s.Problem != nil:
		body = s.Problem.document(code)
	case body == "" && code >= 400:
		body = bareProblem(code)
	}
	if s.Body == "" && body != "" {
		header.Set("Content-Type", "application/problem+json")
	}
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	s.RetryAfter.set(header, now)
	if !bodyless(code) {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return code, body
}

// send answers with what is in the header already.
func send(w http.ResponseWriter, r *http.Request, code int, body string) {
	w.WriteHeader(code)
	_, _ = io.WriteString(w, written(r, code, body))
}

// written is what goes out of a body: nothing in answer to HEAD, or where the status allows none.
func written(r *http.Request, code int, body string) string {
	if bodyless(code) || r.Method == http.MethodHead {
		return ""
	}
	return body
}

// bodyless reports whether answers with this status end with the head.
func bodyless(code int) bool {
	return code < 200 || code == http.StatusNoContent || code == http.StatusNotModified
}

// computed are the headers that Status sets by itself, and what to write in their place.
var computed = map[string]string{
	"Content-Length":    "it follows from the body; to promise more or less than is sent, use the fault wrong-length",
	"Transfer-Encoding": "the server chooses it",
}

// Validate checks the code, the headers and that body and Retry-After are given in one way.
func (s *Status) Validate(n strict.Node) {
	if _, ok := n.Field("code"); ok {
		strict.Between(n, "code", s.Code, minStatus, maxStatus)
	}
	for _, field := range []string{"body", "problem"} {
		if at, ok := n.Field(field); ok && bodyless(s.Code) && s.Code != 0 {
			at.Fail("a %d answer has no body; leave %s out", s.Code, field)
		}
	}
	if s.Problem != nil && s.Body != "" {
		n.At("problem").Fail("body and problem cannot stand together; an answer has one body")
	}
	headers, _ := n.Field("headers")
	given := checkHeaders(headers)
	if given["Retry-After"] && s.RetryAfter != nil {
		headers.Fail("Retry-After stands in headers and is set by a field too; keep one")
	}
}

// checkHeaders checks headers that a plan sets, and returns their names.
func checkHeaders(headers strict.Node) (given map[string]bool) {
	given = map[string]bool{}
	for _, pair := range headers.Map() {
		name := http.CanonicalHeaderKey(pair.Key.String())
		twice := given[name]
		given[name] = true
		switch {
		case twice:
			pair.Key.Fail("%s stands there twice; case does not tell header names apart", name)
		case !ValidName(name):
			pair.Key.Fail("%q is no header name; it takes letters, digits and hyphens", pair.Key.String())
		case !ValidValue(pair.Value.String()):
			pair.Value.Fail("the value of %s has a character that no header may hold", name)
		case computed[name] != "":
			pair.Key.Fail("%s cannot be set: %s", name, computed[name])
		}
	}
	return given
}

// ValidName reports whether a header can have this name (a token of RFC 9110 5.6.2).
func ValidName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		letterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letterOrDigit && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// ValidValue reports whether a header may hold the value: a line break in it would begin another header.
func ValidValue(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}
