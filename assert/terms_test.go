package assert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		name                                string
		entry                               journal.Entry
		succeeded, failed, network, unclear bool
		want                                assert.Behaviour // by the strict table
	}{
		{"200", journal.Entry{Status: 200}, true, false, false, false, assert.Unspecified},
		{"200 cut short", journal.Entry{Status: 200, Cut: true}, false, true, true, true, assert.Backoff},
		{"200 that the client left", journal.Entry{Status: 200, Gone: 1}, false, true, true, true, assert.Backoff},
		{"open", journal.Entry{Open: true}, false, false, false, false, assert.Unspecified},
		{"no status line", journal.Entry{Method: "GET", Cut: true}, false, true, true, true, assert.Backoff},
		{"no request read", journal.Entry{Cut: true}, false, true, true, false, assert.Backoff},
		{"the client gave up waiting", journal.Entry{Method: "GET", Gone: 1}, false, true, true, true, assert.Backoff},
		{"304", journal.Entry{Status: 304}, false, false, false, false, assert.Unspecified},
		{"400", journal.Entry{Status: 400}, false, true, false, false, assert.Never},
		{"400 whose body the client did not read", journal.Entry{Status: 400, Gone: 1}, false, true, false, false, assert.Never},
		{"401", journal.Entry{Status: 401}, false, true, false, false, assert.OnceAfterRefresh},
		{"409", journal.Entry{Status: 409}, false, true, false, false, assert.Never},
		{"409 with a key", journal.Entry{Status: 409, Key: "k"}, false, true, false, false, assert.Backoff},
		{"413", journal.Entry{Status: 413}, false, true, false, false, assert.Never},
		{"413 with Retry-After", journal.Entry{Status: 413, RetryAfter: "1"}, false, true, false, false, assert.Backoff},
		{"418", journal.Entry{Status: 418}, false, true, false, false, assert.Never},
		{"421", journal.Entry{Status: 421}, false, true, false, false, assert.Once},
		{"429", journal.Entry{Status: 429}, false, true, false, false, assert.Backoff},
		{"500", journal.Entry{Status: 500}, false, true, false, true, assert.Backoff},
		{"501", journal.Entry{Status: 501}, false, true, false, false, assert.Never},
		{"503", journal.Entry{Status: 503}, false, true, false, true, assert.Backoff},
		{"503 with Retry-After", journal.Entry{Status: 503, RetryAfter: "1"}, false, true, false, false, assert.Backoff},
		{"522", journal.Entry{Status: 522}, false, true, false, false, assert.Backoff},
		{"599", journal.Entry{Status: 599}, false, true, false, true, assert.Backoff},
		{"999", journal.Entry{Status: 999}, false, true, false, false, assert.Unspecified},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := test.entry
			if got := assert.Succeeded(e); got != test.succeeded {
				t.Errorf("succeeded: %v", got)
			}
			if got := assert.Failed(e); got != test.failed {
				t.Errorf("failed: %v", got)
			}
			if got := assert.NetworkFailure(e); got != test.network {
				t.Errorf("network failure: %v", got)
			}
			if got := assert.MaybeProcessed(e); got != test.unclear {
				t.Errorf("maybe processed: %v", got)
			}
			if got := assert.StrictResponses().For(e); got != test.want {
				t.Errorf("behaviour %v, want %v", got, test.want)
			}
		})
	}
}

func TestHonours(t *testing.T) {
	table := assert.StrictResponses()
	for _, test := range []struct {
		name  string
		entry journal.Entry
		want  bool
	}{
		{"429 that asks", journal.Entry{Status: 429, RetryAfter: "1"}, true},
		{"429 that does not", journal.Entry{Status: 429}, false},
		{"413 depends on it", journal.Entry{Status: 413, RetryAfter: "1"}, true},
		{"500 is free to", journal.Entry{Status: 500, RetryAfter: "1"}, false},
		{"a header that never arrived whole", journal.Entry{Status: 503, RetryAfter: "1", Cut: true}, false},
	} {
		if got := table.Honours(test.entry); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestAsked(t *testing.T) {
	began := time.Date(2026, 7, 1, 12, 0, 0, 500_000_000, time.UTC)
	for _, test := range []struct {
		value string
		want  time.Duration
		ok    bool
	}{
		{"", 0, false},
		{"0", 0, true},
		{"120", 120 * s, true},
		{"  3\t", 3 * s, true},
		{"86400", 24 * time.Hour, true},
		{"1000000000000", (1<<63 - 1) / s * s, true},
		{"99999999999999999999999999", (1<<63 - 1) / s * s, true},
		{"1.5", 0, false},
		{"-5", 0, false},
		{"soon", 0, false},
		{"Wed, 01 Jul 2026 12:00:05 GMT", 3500 * ms, true}, // the attempt ended at 12:00:01.5
		{"Wednesday, 01-Jul-26 12:00:05 GMT", 3500 * ms, true},
		{"Wed Jul  1 12:00:05 2026", 3500 * ms, true},
		{"Wed, 01 Jul 2026 11:00:01 GMT", -time.Hour - 500*ms, true},
		{"Wed, 01 Jul 2026 12:00:05 CET", 0, false},
	} {
		got, ok := assert.Asked(journal.Entry{At: 900 * ms, Took: 100 * ms, RetryAfter: test.value}, began)
		if got != test.want || ok != test.ok {
			t.Errorf("%q: %v, %v; want %v, %v", test.value, got, ok, test.want, test.ok)
		}
	}
	if _, ok := assert.Asked(journal.Entry{RetryAfter: "Wed, 01 Jul 2026 12:00:05 GMT"}, time.Time{}); ok {
		t.Error("a date means nothing without the wall clock at the start")
	}
}

func TestNoise(t *testing.T) {
	quiet := assert.Noise{Slices: []assert.Slice{{From: 0, P99: 2 * ms}, {From: 5 * s, P99: 40 * ms}, {From: 10 * s, P99: 2 * ms}}}
	for _, test := range []struct {
		name      string
		got, want any
	}{
		{"no canary: nothing known", assert.Noise{}.Known(), false},
		{"no canary: the floor stands", assert.Noise{}.Tau(), 25 * ms},
		{"worst of all", quiet.P99(0, time.Hour), 40 * ms},
		{"first slice", quiet.P99(0, 4*s), 2 * ms},
		{"part of two", quiet.P99(4*s, 6*s), 40 * ms},
		{"the last slice has no end", quiet.P99(11*s, 12*s), 2 * ms},
		{"between", quiet.P99(6*s, 7*s), 40 * ms},
		{"resolution", quiet.Tau(), 120 * ms},
		{"early by 2 ms and 1 %", assert.Early(s), 12 * ms},
		{"late by 250 ms at least", assert.Late(s, 2*ms), 250 * ms},
		{"late by a tenth", assert.Late(10*s, 2*ms), s},
		{"late by what the canary saw", assert.Late(s, 200*ms), 600 * ms},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestJitterBounds(t *testing.T) {
	for _, test := range []struct {
		jitter           assert.Jitter
		floor, mean, top time.Duration
		required         bool
	}{
		{assert.Jitter{}, 0, 500 * ms, 1500 * ms, false},
		{assert.Jitter{Form: assert.JitterAny}, 0, 500 * ms, 1500 * ms, true},
		{assert.Jitter{Form: assert.JitterNone}, s, s, s, false},
		{assert.Jitter{Form: assert.JitterFull}, 0, 500 * ms, s, true},
		{assert.Jitter{Form: assert.JitterEqual}, 500 * ms, 750 * ms, s, true},
		{assert.Jitter{Form: assert.JitterProportional, Proportion: 0.25}, 750 * ms, s, 1250 * ms, true},
		{assert.Jitter{Form: assert.JitterDecorrelated}, s, 2 * s, 3 * s, true},
		{assert.Jitter{Form: assert.JitterAdditive, Add: 100 * ms}, s, 1050 * ms, 1100 * ms, true},
	} {
		j := test.jitter
		if j.Floor(s) != test.floor || j.Mean(s) != test.mean || j.Ceiling(s) != test.top || j.Required() != test.required {
			t.Errorf("%v: %v %v %v %v", j, j.Floor(s), j.Mean(s), j.Ceiling(s), j.Required())
		}
	}
}

func TestDelaysNeverOverflow(t *testing.T) {
	d := assert.Delays{Initial: s, Multiplier: 2}
	for k, want := range map[int]time.Duration{1: s, 2: 2 * s, 5: 16 * s, 35: 1<<63 - 1, 60: 1<<63 - 1, 5000: 1<<63 - 1} {
		if got := d.Delay(k); got != want {
			t.Errorf("wait %d: %v, want %v", k, got, want)
		}
	}
	d.Max = 30 * s
	if got := d.Delay(5000); got != 30*s {
		t.Errorf("capped: %v", got)
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]assert.Rate{"10/1m": {N: 10, Per: time.Minute}, " 3 / 500ms ": {N: 3, Per: 500 * ms}, "1/1h": {N: 1, Per: time.Hour}} {
		got, err := assert.ParseRate(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if back, err := assert.ParseRate(got.String()); err != nil || back != want {
			t.Errorf("%q does not come back: %v, %v", got, back, err)
		}
	}
	for _, text := range []string{"", "10", "10/", "/1m", "0/1m", "-1/1m", "10/0s", "10/-1m", "10/m", "x/1m", "10/60"} {
		if got, err := assert.ParseRate(text); err == nil || !strings.Contains(err.Error(), "as in 10/1m") {
			t.Errorf("%q: %v, %v; want an error that shows how", text, got, err)
		}
	}
}
