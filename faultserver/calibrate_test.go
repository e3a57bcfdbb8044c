package faultserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestCallHeaderNamesCalls(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			headers []string
			id, by  string
		}{
			{[]string{"X-Job-Id", "7"}, "7", "X-Job-Id"},
			{[]string{"X-Job-Id", "7", "Idempotency-Key", "k"}, "7", "X-Job-Id"},
			{[]string{"X-Job-Id", "7", faultserver.CallHeader, "c"}, "c", faultserver.CallHeader},
			{[]string{"Idempotency-Key", "k"}, "k", "Idempotency-Key"},
			{nil, "", ""},
		} {
			w.do(t, "GET /", c.headers...)
			if e := w.last(t); e.Call != c.id || e.More().CallBy != c.by {
				t.Errorf("%v: call %q by %q", c.headers, e.Call, e.More().CallBy)
			}
		}
	}, faultserver.WithCallHeader("x-job-id"))
}

func TestCalibrationKeepsHashesOfHeadersThatMayNameCalls(t *testing.T) {
	marks := func(w *world, headers ...string) map[string]string {
		w.do(t, "GET /", headers...)
		found := map[string]string{}
		for mark := range strings.FieldsSeq(w.last(t).More().Marks) {
			name, hash, _ := strings.Cut(mark, "=")
			found[name] = hash
		}
		return found
	}
	virtual(t, func(t *testing.T, w *world) {
		headers := []string{"X-Job-Id", "7", "X-Request-Id", "r", "Idempotency-Key", "k", "X-Api-Key", "secret", "Accept", "*/*"}
		one := marks(w, headers...)
		if len(one) != 2 || one["X-Job-Id"] == "" || one["X-Request-Id"] == "" || strings.Contains(one["X-Job-Id"], "7\x00") {
			t.Errorf("marks %v", one)
		}
		if two := marks(w, "X-Job-Id", "8", "X-Request-Id", "r"); two["X-Job-Id"] == one["X-Job-Id"] || two["X-Request-Id"] != one["X-Request-Id"] {
			t.Errorf("%v, then %v", one, two)
		}
		var many []string
		for c := 'z'; c >= 'a'; c-- {
			many = append(many, "X-"+string(c)+"-Id", "1")
		}
		if all := marks(w, many...); len(all) != 8 || all["X-A-Id"] == "" || all["X-H-Id"] == "" {
			t.Errorf("marks %v, want those from A to H", all)
		}
	}, faultserver.Calibrate())
	virtual(t, func(t *testing.T, w *world) {
		if none := marks(w, "X-Job-Id", "7"); len(none) != 0 {
			t.Errorf("marks without calibration: %v", none)
		}
	})
}

func TestAnswersThatDirectAreJournalled(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "moved", Fault: fault.Of("redirect", faultFunc(func(a http.ResponseWriter, _ *http.Request, _ http.Handler) {
			a.Header().Set("Location", "/elsewhere")
			a.Header().Set("X-Should-Retry", "false")
			a.Header().Set("Retry-After", "3")
			a.WriteHeader(http.StatusTemporaryRedirect)
		}))})
		w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		w.do(t, "GET /")
		want := journal.Told{Location: "/elsewhere", Directive: journal.DirectiveNo}
		if e := w.last(t); e.More().Told != want || e.RetryAfter != "3" {
			t.Errorf("told %+v, retry after %q", e.More().Told, e.RetryAfter)
		}
	})
}
