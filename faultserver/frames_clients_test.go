package faultserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Go's client sends again by itself what was not processed, and the journal has every send with its connection: on the
// same one after a refusal, on another after GOAWAY.
func TestGoSendsAgainWhatWasNotProcessed(t *testing.T) {
	for text, want := range map[string]string{
		"{steps: [refused-stream]}":                 "1 0 refused-stream; 1 200 ",
		"{steps: [pass, refused-stream]}":           "1 200 ; 1 0 refused-stream; 1 200 ",
		"{steps: [goaway]}":                         "1 0 goaway; 2 200 ",
		"{steps: [pass, goaway]}":                   "1 200 ; 1 0 goaway; 2 200 ",
		"{steps: [pass, {goaway: {code: cancel}}]}": "1 200 ; 1 0 goaway; 2 200 ",
		"{steps: [{goaway: {last: this}}]}":         "1 200 goaway; 2 200 ",
		"{when: {first: 3}, fault: refused-stream}": "1 0 refused-stream; 1 0 refused-stream; 1 0 refused-stream; 1 200 ",
	} {
		t.Run(text, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				var rule faultserver.Rule
				if err := strict.Decode("rule", []byte(text), &rule); err != nil {
					t.Fatal(err)
				}
				w.use(t, rule)
				defer w.speak("HTTP/2.0")()
				began, calls := time.Now(), 1
				if strings.Contains(text, "pass") || strings.Contains(text, "this") {
					calls = 2
				}
				for range calls {
					if status, body := w.ask(t, "POST /", "hello"); status != http.StatusOK {
						t.Error(status, body)
					}
					synctest.Wait() // the connection is in the pool
				}
				var got []string
				for _, e := range w.used() {
					got = append(got, fmt.Sprintf("%d %d %s", e.Conn, e.Status, e.Fault))
					if e.Unprocessed != (e.Status == 0) || e.Unprocessed && (e.Upstream != 0 || e.BodyWhole || !e.Early || e.Gone != 0) {
						t.Errorf("%+v", e)
					}
				}
				if all := strings.Join(got, "; "); all != want {
					t.Errorf("after %v: %s\nwant %s", time.Since(began), all, want)
				}
			})
		})
	}
}

// curl sends again what was refused, each time on another connection, and gives up after some times; what GOAWAY did not
// process it does not send again.
func TestCurlSendsAgainWhatWasNotProcessed(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	if features, _ := exec.Command(curl, "--version").Output(); !bytes.Contains(features, []byte("HTTP2")) {
		t.Skip("this curl speaks no HTTP/2")
	}
	for kind, sends := range map[string]int{"refused-stream": 2, "goaway": 1} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := listenWith(t, kind, view{version: "HTTP/2.0"})
			printed, _ := exec.CommandContext(t.Context(), curl, "-sS", "--http2-prior-knowledge", w.url+"/bad").CombinedOutput()
			entries := w.entries(t, sends)
			if !oneOf("(56) |(92) |(16) |(55) |(18) ", string(printed)) {
				t.Errorf("curl says %s", printed)
			}
			for i, e := range entries {
				if !e.Unprocessed || e.Fault != kind || e.Conn != uint64(i)+1 || !e.BodyWhole || e.Early {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// A whole upload that is refused does not stall the others on its connection: its bytes are given back to their windows.
func TestRefusedUploadsLeaveRoomForOthers(t *testing.T) {
	w := listenWith(t, "refused-stream", view{version: "HTTP/2.0"})
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	send := func(path string) (int, error) {
		r, err := http.NewRequest(http.MethodPost, w.url+path, io.LimitReader(zeros{}, 1<<20))
		if err != nil {
			return 0, err
		}
		answer, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	for range 8 {
		if _, err := send("/bad"); err == nil || !strings.Contains(err.Error(), "REFUSED_STREAM") {
			t.Fatal(err)
		}
		if status, err := send("/good"); status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	for i, e := range w.entries(t, 16) {
		if e.Conn != 1 || e.Unprocessed != (i%2 == 0) || i%2 == 1 && e.BodyLen != 1<<20 {
			t.Errorf("%+v", e)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Requests on HTTP/1.1 are no hits of a rule that has nothing for them.
func TestStreamRulesCountStreamsOnly(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		rule := faultserver.Rule{Name: "r", Fault: fault.Of("refused-stream", &fault.StreamRefused{}), When: schedule.Of(schedule.First(1))}
		w.use(t, rule)
		w.do(t, "GET /")
		w.do(t, "GET /")
		defer w.speak("HTTP/2.0")()
		w.do(t, "GET /")
		if got := wireText(w.Journal().Entries()); got != "GET 200; GET 200; GET refused-stream; GET 200" {
			t.Error(got)
		}
	})
}

// A head that is one piece comes at once, on HTTP/2 too.
func TestSlowHeadOfOnePieceIsNotLate(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("slow-head", &fault.SlowHead{Bytes: 1 << 20, Every: time.Second})})
		defer w.speak("HTTP/2.0")()
		if got := w.do(t, "GET /"); got != 200 || w.last(t).Took != 0 {
			t.Errorf("%d after %v", got, w.last(t).Took)
		}
	})
}
