package fault_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// onStream is an exchange on an HTTP/2 stream, which notes what a fault does to it.
type onStream struct {
	*httptest.ResponseRecorder
	did string
}

func (*onStream) OnStream() bool     { return true }
func (w *onStream) Code(code uint32) { w.did += fmt.Sprintf("code %d ", code) }
func (w *onStream) GoAway(processed bool, code uint32, debug string) {
	w.did += strings.TrimSpace(fmt.Sprintf("goaway %v %d %s", processed, code, debug)) + " "
}

// meet puts one exchange to a fault.
func (w *onStream) meet(s fault.Spec) {
	defer func() {
		if reason := recover(); reason == http.ErrAbortHandler {
			w.did += "aborted"
		} else if reason != nil {
			panic(reason)
		}
	}()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("hello"))
	s.Fault().Inject(w, r, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.did += "answered" }))
}

// firesOnStreams holds a fault of HTTP/2 to acting on streams, and on nothing else.
func firesOnStreams(t *testing.T, s fault.Spec) {
	t.Helper()
	if w := (&onStream{ResponseRecorder: httptest.NewRecorder()}); true {
		if w.meet(s); w.did == "answered" || w.did == "" {
			t.Errorf("on a stream: %q", w.did)
		}
	}
	virtual(t, s.Fault(), healthy("0123456789"), func(t *testing.T, client *http.Client, _ *outcome) {
		resp, err := client.Post("http://t/", "", strings.NewReader("x"))
		if got := describe(resp, err); got != `200 "0123456789"` {
			t.Errorf("on HTTP/1.1: %s", got)
		}
	})
}

func TestFaultsOnStreams(t *testing.T) {
	for text, want := range map[string]string{
		"refused-stream":                         "code 7 aborted",
		"stream-reset":                           "code 2 aborted",
		"{stream-reset: {code: cancel}}":         "code 8 aborted",
		"{stream-reset: {code: 0xff}}":           "code 255 aborted",
		"goaway":                                 "goaway false 0 aborted",
		"{goaway: {code: internal-error}}":       "goaway false 2 aborted",
		"{goaway: {last: this, debug: drained}}": "goaway true 0 drained answered",
	} {
		s, err := spec(t, text)
		if err != nil {
			t.Fatal(err)
		}
		w := &onStream{ResponseRecorder: httptest.NewRecorder()}
		if w.meet(s); w.did != want {
			t.Errorf("%s: %q, want %q", text, w.did, want)
		}
		if !s.OnStreams() {
			t.Errorf("%s is not known to exist on HTTP/2 only", text)
		}
	}
	for text, want := range map[string]string{
		"{stream-reset: {code: cancle}}":                        `unknown HTTP/2 error code "cancle"; did you mean cancel?`,
		"{goaway: {last: all}}":                                 `unknown last request "all"`,
		"{goaway: {debug: " + strings.Repeat("x", 17000) + "}}": "debug has 17000 bytes; at most 16376",
		"[{refused-stream: {}}, 503]":                           "status cannot act here: refused-stream before it settles the exchange",
	} {
		if _, err := spec(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
	for _, code := range []fault.Code{fault.NoError, fault.RefusedStream, 0xff} {
		var again fault.Code
		if text, _ := code.MarshalText(); again.UnmarshalText(text) != nil || again != code {
			t.Errorf("%s is read as %v", text, again)
		}
	}
}
