package assert_test

import (
	"io"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// FuzzLoadContract wants every file either refused with places or loaded into a contract that works.
func FuzzLoadContract(f *testing.F) {
	f.Add(assert.Init())
	for _, p := range assert.Profiles.All() {
		f.Add(p.Text)
	}
	for _, text := range []string{
		"", "name: x", "responses: {4xx: never, '500, 502-504': {retry: backoff, retry-after: honour}}", "responses: {-: x}",
		"attempts: {max: 99999999, within: 1ns}\nbackoff: {initial: 290y, multiplier: 1e300, jitter: decorrelated}",
		"limits: {client-rate: [1/1ns]}", "clauses: {retry-cap: {max: 1}}", "clauses: {retry-cap: off}", "{", "[]", "a: &a [*a]",
	} {
		f.Add([]byte(text))
	}
	calls := assert.Calls(history.New().Retries(0, 503, s, 2*s, 4*s).Attempt(9*s, ms, 200).Entries(), assert.Key{OneCall: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := assert.LoadContract("c.yaml", data)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "c.yaml:") {
					t.Errorf("a mistake without its place: %q", line)
				}
			}
			return
		}
		c.Lint()
		if err := c.Doc(io.Discard); err != nil {
			t.Error(err)
		}
		for _, r := range assert.Judge(c, nil, calls) {
			if r.Clause == "" || r.Detail == "" {
				t.Errorf("a result without clause or detail: %+v", r)
			}
		}
	})
}
