package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "fail-before",
		Summary: "fails before the backend is asked, by a reset or a close (on HTTP/2 of the stream) or a status: nothing was done, and the client cannot tell it from lose-answer",
		Example: "{fail-before: {by: 502}}",
		New:     func() Fault { return &FailBefore{} },
		Role:    Final,
	})
	register(Kind{
		Name:    "lose-answer",
		Summary: "lets the backend answer and loses the answer, by a reset or a close (on HTTP/2 of the stream) or a status: the work was done, and the client cannot tell it from fail-before",
		Example: "{lose-answer: {by: close}}",
		New:     func() Fault { return &LoseAnswer{} },
		Role:    Final,
	})
}

// FailBefore is the harmless half of a pair that looks the same to a client: only the journal's Upstream tells that nobody
// was asked.
type FailBefore struct {
	By Loss `yaml:"by" doc:"reset (default), close, or a status from 400 to 599"`
}

// Inject fails; next is not called.
func (f *FailBefore) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	f.By.lose(w, r)
}

// LoseAnswer is the other half: the journal's Upstream tells what the backend answered.
type LoseAnswer struct {
	By Loss `yaml:"by" doc:"reset (default), close, or a status from 400 to 599"`
}

// Inject lets next answer to nobody, and then fails.
func (f *LoseAnswer) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	unseen(next, r)
	f.By.lose(w, r)
}

// unseen has next answer to nobody. One that breaks its own answer off changes nothing: it would be lost all the same.
func unseen(next http.Handler, r *http.Request) {
	defer func() {
		if reason := recover(); reason != nil && !isAbort(reason) {
			panic(reason)
		}
	}()
	next.ServeHTTP(&lost{header: http.Header{}}, r)
}

// isAbort tells the panic by which a handler breaks its answer off (net/http) from others.
func isAbort(reason any) bool {
	err, ok := reason.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// Loss is how an answer is lost: Reset, Close, or the status that a gateway gives in its place.
type Loss int

// ByReset breaks the connection off, ByClose closes it in good order.
const (
	ByReset Loss = 0
	ByClose Loss = -1
)

// UnmarshalText reads the word that plans use, or a status.
func (l *Loss) UnmarshalText(text []byte) error {
	code, err := strconv.Atoi(string(text))
	switch {
	case string(text) == "reset":
		*l = ByReset
	case string(text) == "close":
		*l = ByClose
	case err == nil && code >= 400 && code <= maxStatus:
		*l = Loss(code)
	default:
		return fmt.Errorf("%q is no way to lose an answer; want reset, close, or a status from 400 to %d", text, maxStatus)
	}
	return nil
}

// JSONSchema describes what UnmarshalText accepts.
func (Loss) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"enum": []string{"reset", "close"}},
		map[string]any{"type": "integer", "minimum": 400, "maximum": maxStatus},
	}}
}

// Validate is for losses that were made in Go.
func (l *Loss) Validate(n strict.Node) {
	if *l != ByReset && *l != ByClose && (*l < 400 || *l > maxStatus) {
		n.Fail("by: %d is out of range; want 400 to %d", *l, maxStatus)
	}
}

func (l Loss) lose(w http.ResponseWriter, r *http.Request) {
	switch l {
	case ByReset:
		breakConnection(w)
	case ByClose:
		hangUp(w)
	default:
		(&Status{Code: int(l)}).Inject(w, r, nil)
	}
}

// lost takes an answer that nobody gets.
type lost struct{ header http.Header }

func (l *lost) Header() http.Header         { return l.header }
func (l *lost) WriteHeader(int)             {}
func (l *lost) Write(p []byte) (int, error) { return len(p), nil }
func (l *lost) FlushError() error           { return nil }
