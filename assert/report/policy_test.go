package report

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestPolicyIsShown(t *testing.T) {
	const s = time.Second
	run := &assert.Run{Ended: true, Until: time.Minute}
	var calls []assert.Call
	for range 5 {
		calls = append(calls, assert.Call{Attempts: history.New().Retries(0, 503, s, 2*s, 4*s, 8*s).Entries(), Rule: "driver", Run: run})
	}
	r := Report{Policy: PolicyOf(calls)}
	if r.Policy == nil {
		t.Fatal("no policy")
	}
	for format, want := range map[string]string{
		"text":     "the client tries a call 5 times at most; waits 1 s, growing 2-fold each time",
		"markdown": "Policy seen: the client tries a call 5 times at most; waits 1 s, growing 2-fold each time",
		"json":     `"sentence": "tries a call 5 times at most; waits 1 s, growing 2-fold each time`,
	} {
		var b strings.Builder
		f, _ := Formats.Get(format)
		if err := f.Write(&b, r, Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %q:\n%s", format, want, b.String())
		}
	}
	if p := PolicyOf([]assert.Call{{Attempts: history.New().Attempt(0, 1, 200).Entries(), Run: run}}); p != nil {
		t.Errorf("a call that succeeds shows no policy: %+v", p)
	}
}
