package assert_test

import (
	"reflect"
	"testing"
)

func TestLint(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"sound", "attempts: {max: 4, within: 30s}\nbackoff: {initial: 1s, multiplier: 2}\n", nil},
		{"waits that do not fit", "attempts:\n  max: 4\n  within: 1s\nbackoff:\n  initial: 2s\n  multiplier: 2\n  jitter: none\n", []string{
			"attempts.max (line 2) 4 attempts cannot all fit into attempts.within (line 3) 1s: the waits of backoff.initial (line 5) 2s alone take 14s"}},
		{"full jitter always fits", "attempts: {max: 4, within: 1s}\nbackoff: {initial: 2s, jitter: full}\n", nil},
		{"the profile's bound is named as such", "backoff: {initial: 20s, multiplier: 2, jitter: none}\n", []string{
			"attempts.max (from profile strict) 4 attempts cannot all fit into attempts.within (from profile strict) 30s: the waits of backoff.initial (line 1) 20s alone take 2m"}},
		{"cap below the first wait", "backoff: {initial: 5s, max: 1s}\n", []string{
			"backoff.initial (line 1) 5s is longer than backoff.max (line 1) 1s, so that no wait ever grows"}},
		{"growth beyond the multiplier", "backoff: {multiplier: 1.5, growth: 2}\n", []string{
			"backoff.growth (line 1) 2 demands more than backoff.multiplier (line 1) 1.5 gives"}},
		{"Retry-After beyond the deadline", "attempts: {within: 30s}\nretry-after: {max: 2m}\n", []string{
			"retry-after.max (line 2) 2m is longer than attempts.within (line 1) 30s: who waits that long has no time left to try again"}},
		{"five retries against three a minute", "attempts: {max: 6}\nlimits: {identical-payload: 3/1m}\n", []string{
			"limits.identical-payload (line 2) 3/1m forbids what attempts.max (line 1) allows: 5 retries of one payload can come within 1m"}},
		{"five retries over minutes", "attempts: {max: 6, within: 10m}\nbackoff: {initial: 30s, jitter: none}\nlimits: {identical-payload: 3/1m}\n", nil},
		{"a rate that one call breaks", "attempts: {max: 6}\nlimits: {client-rate: [100/1m, 5/10s]}\n", []string{
			"limits.client-rate (line 2) 5/10s forbids what attempts.max (line 1) allows: one call can send 6 requests within 10s"}},
		{"a bound that forbids nothing", "limits: {amplification: 9}\n", []string{
			"limits.amplification (line 1) 9 forbids nothing: attempts.max (from profile strict) lets no call send more than 4"}},
		{"jitter that no run can show", "backoff: {initial: 1s, multiplier: 2, jitter: {additive: 20ms}}\n", []string{
			"backoff.jitter (line 1) additive 20ms cannot be shown: it draws waits apart by 20ms at most, and a machine alone does so by 25ms; " +
				"agree on 50ms or more, or switch jitter-present off"}},
		{"jitter hardly above the noise", "backoff: {jitter: {additive: 30ms}}\n", []string{
			"backoff.jitter (line 1) additive 30ms cannot be shown: it draws waits apart by 30ms at most, and a machine alone does so by 25ms; " +
				"agree on 50ms or more, or switch jitter-present off"}},
		{"a share of short waits", "attempts: {max: 2}\nbackoff: {initial: 1s, jitter: {proportional: 0.01}}\n", []string{
			"backoff.jitter (line 2) proportional 0.01 cannot be shown: it draws waits apart by 20ms at most, and a machine alone does so by 25ms; " +
				"agree on 50ms or more, or switch jitter-present off"}},
		{"enough jitter", "backoff: {initial: 1s, jitter: {additive: 100ms}}\n", nil},
		{"a schedule that does not fit", "attempts: {max: 3, within: 1m}\nbackoff:\n  schedule: [5s, 5m]\n  jitter: none\n", []string{
			"attempts.max (line 1) 3 attempts cannot all fit into attempts.within (line 1) 1m: the waits of backoff.schedule (line 3) alone take 5m5s"}},
		{"a schedule that shrinks", "attempts: {within: unlimited}\nbackoff: {schedule: [5m, 5s, 5s]}\n", []string{
			"backoff.schedule (line 2) shrinks from 5m to 5s: a server that is still down gets more load, not less"}},
		{"a schedule that is longer than the attempts", "profile: webhook\nattempts: {max: 3}\n", []string{
			"backoff.schedule (from profile webhook) lists 9 waits, but attempts.max (line 2) 3 leaves room for 2"}},
		{"jitter wider than the wait", "backoff: {initial: 1s, jitter: {additive: 5s}}\n", []string{
			"backoff.jitter (line 1) additive 5s is wider than the first wait, backoff.initial (line 1) 1s: chance decides how long clients wait, not backoff"}},
		{"an amplification below the attempts", "attempts: {max: 4}\nlimits: {amplification: 2}\n", []string{
			"limits.amplification (line 2) 2 forbids what attempts.max (line 1) 4 allows: during an outage each call makes all its attempts"}},
		{"a Retry-After of nothing", "retry-after: {max: 0s}\n", []string{
			"retry-after.max (line 1) 0s contradicts every answer whose Retry-After is to be honoured; for no bound write unlimited, " +
				"and to leave the header alone write retry-after: ignore in responses"}},
		{"values of a profile", "profile: aws\nattempts: {within: 100ms}\nbackoff: {jitter: none}\n", []string{
			"attempts.max (from profile aws) 3 attempts cannot all fit into attempts.within (line 2) 100ms: the waits of backoff.initial (from profile aws) 1s alone take 3s"}},
		{"jitter that nothing judges", "backoff: {jitter: {additive: 20ms}}\nclauses: {jitter-present: off}\n", []string{
			"backoff.jitter (line 1) is agreed, but clauses.jitter-present (line 2) switches off the clause that checks it"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := load(t, test.text).Lint(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
