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
		Summary: "answers with a status, headers and body of its own, and Retry-After in seconds or as a date",
		Example: "{status: {code: 429, retry-after: 2s}}",
		New:     func() Fault { return &Status{Code: http.StatusServiceUnavailable} },
	})
}

// The final statuses that a server may send; net/http takes no others.
const minStatus, maxStatus = 200, 599

// Status answers in the backend's place.
type Status struct {
	Code    int               `yaml:"code"`    // 200 to 599; default 503
	Headers map[string]string `yaml:"headers"` // set in addition
	Body    string            `yaml:"body"`    // default: for 400 and above, a problem document (RFC 9457)

	// RetryAfter is sent in whole seconds, rounded up: the server keeps its word. nil: not sent.
	RetryAfter *time.Duration `yaml:"retry-after"`
	// RetryAfterDate is sent as the HTTP-date that lies so far ahead when the answer is sent, rounded up. nil: not sent.
	RetryAfterDate *time.Duration `yaml:"retry-after-date"`
}

// Inject answers the request; next is not called.
func (s *Status) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	code, body, header := s.Code, s.Body, w.Header()
	if code == 0 {
		code = http.StatusServiceUnavailable
	}
	if body == "" && code >= 400 {
		body = problem(code)
		header.Set("Content-Type", "application/problem+json")
	}
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	s.retryAfter(header)
	if bodyless(code) {
		w.WriteHeader(code)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, body)
	}
}

func (s *Status) retryAfter(header http.Header) {
	if s.RetryAfter != nil {
		header.Set("Retry-After", strconv.FormatInt(seconds(*s.RetryAfter), 10))
	}
	if s.RetryAfterDate != nil {
		now := time.Now()
		at := now.Add(*s.RetryAfterDate)
		if whole := at.Truncate(time.Second); whole.Before(at) {
			at = whole.Add(time.Second)
		}
		// The Date of the same instant, so that a client whose clock differs can tell how far ahead that is.
		header.Set("Date", now.UTC().Format(http.TimeFormat))
		header.Set("Retry-After", at.UTC().Format(http.TimeFormat))
	}
}

// seconds rounds up: 1.2 s promised as 1 s would be a lie by 200 ms.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// bodyless reports whether answers with this status end with the head.
func bodyless(code int) bool {
	return code < 200 || code == http.StatusNoContent || code == http.StatusNotModified
}

// problem is the default body. No title has a character that JSON would escape.
func problem(code int) string {
	title := http.StatusText(code)
	if title == "" {
		title = "Status " + strconv.Itoa(code)
	}
	return `{"title":"` + title + `","status":` + strconv.Itoa(code) + "}\n"
}

// computed are the headers that Status sets by itself, and what to write in their place.
var computed = map[string]string{
	"Content-Length":    "it follows from the body; to promise more than is sent, use the fault truncate",
	"Transfer-Encoding": "the server chooses it",
}

// Validate checks the code, the headers and that Retry-After is given in one way.
func (s *Status) Validate(n strict.Node) {
	strict.Between(n, "code", s.Code, minStatus, maxStatus)
	if s.Body != "" && bodyless(s.Code) {
		n.At("body").Fail("a %d answer has no body; leave body out", s.Code)
	}
	given := map[string]bool{}
	headers, _ := n.Field("headers")
	for _, pair := range headers.Map() {
		name := http.CanonicalHeaderKey(pair.Key.String())
		given[name] = true
		switch {
		case !validName(name):
			pair.Key.Fail("%q is no header name; it takes letters, digits and hyphens", pair.Key.String())
		case !validValue(pair.Value.String()):
			pair.Value.Fail("the value of %s has a character that no header may hold", name)
		case computed[name] != "":
			pair.Key.Fail("%s cannot be set: %s", name, computed[name])
		}
	}
	if s.RetryAfter != nil {
		strict.AtLeast(n, "retry-after", *s.RetryAfter, 0)
		if s.RetryAfterDate != nil {
			n.At("retry-after-date").Fail("retry-after and retry-after-date cannot stand together; an answer has one Retry-After")
		}
	}
	if given["Retry-After"] && (s.RetryAfter != nil || s.RetryAfterDate != nil) {
		headers.Fail("Retry-After stands in headers and is set by a field too; keep one")
	}
}

// validName checks a header name (a token of RFC 9110 5.6.2).
func validName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		letterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letterOrDigit && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// validValue checks a header value: a line break in it would begin another header.
func validValue(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}
