package assert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
)

func TestKnownSaysWhereAndWhat(t *testing.T) {
	_, err := assert.LoadKnown("known.yaml", []byte(`
- {clause: jiter-present, client: curl, reason: x, expires: 2027-01-31}
- {clause: jitter-present, client: curl, expires: 2027-01-31}
- {clause: jitter-present, client: curl, reason: x, expires: 2027-02-31}
- {clause: jitter-present, client: curl, reason: x, expires: 2027-01-31, until: x}
- {clause: retry-cap, client: curl, reason: x, expires: 2027-01-31}
- {clause: retry-cap, client: curl, scenario: hang, reason: x, expires: 2027-01-31}
- {clause: retry-cap, client: curl, reason: y, expires: 2028-01-31}
`))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`known.yaml:2:12: unknown clause "jiter-present"; did you mean jitter-present?`, "known.yaml:3:3: reason: is needed",
		`known.yaml:4:62: "2027-02-31" is no day; write it as in 2027-01-31`, `known.yaml:5:74: unknown field "until"`,
		`known.yaml:8:3: retry-cap of curl is accepted already (known.yaml:6)`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("want %s in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "known.yaml:7") {
		t.Errorf("a line about one scenario repeats none about all: %v", err)
	}
}

func TestKnownAcceptsUntilTheLastDayIsOver(t *testing.T) {
	k, err := assert.LoadKnown("known.yaml", []byte(`
- {clause: jitter-present, client: curl, scenario: 503-burst, reason: x, expires: 2027-01-31}
- {clause: retry-cap, client: "mobile * (beta)", reason: x, expires: 2027-01-31}
`))
	if err != nil {
		t.Fatal(err)
	}
	day := func(text string) time.Time {
		d, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, test := range []struct {
		client, scenario, clause, now string
		want                          bool
	}{
		{"curl", "503-burst", "jitter-present", "2026-11-30T00:00:00Z", true},
		{"curl", "503-burst", "jitter-present", "2027-01-31T23:59:00-12:00", true},
		{"curl", "503-burst", "jitter-present", "2027-02-01T00:01:00-12:00", false},
		{"curl", "flapping", "jitter-present", "2026-11-30T00:00:00Z", false},
		{"wget", "503-burst", "jitter-present", "2026-11-30T00:00:00Z", false},
		{"curl", "503-burst", "retry-cap", "2026-11-30T00:00:00Z", false},
		{"mobile 7 (beta)", "flapping", "retry-cap", "2026-11-30T00:00:00Z", true},
		{"mobile 7", "flapping", "retry-cap", "2026-11-30T00:00:00Z", false},
	} {
		if _, got := k.Accepts(test.client, test.scenario, test.clause, day(test.now)); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
