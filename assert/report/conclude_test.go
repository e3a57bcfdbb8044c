package report

import (
	"strings"
	"testing"

	"github.com/retrygate/retrygate/assert"
)

func TestConclude(t *testing.T) {
	type pair struct {
		level   assert.Level
		verdict assert.Verdict
	}
	rows := []struct {
		name    string
		failOn  assert.Level
		results []pair
		errors  []string
		verdict assert.Verdict
		exit    int
		says    string
	}{
		{"kept", assert.Major, []pair{{assert.Major, assert.Pass}}, nil, assert.Pass, 0, "is kept"},
		{"broken", assert.Major, []pair{{assert.Major, assert.Fail}, {assert.Major, assert.Pass}}, nil, assert.Fail, 1, "breaks 1 clause at level major or above"},
		{"a minor breach is a warning", assert.Major, []pair{{assert.Minor, assert.Fail}}, nil, assert.Pass, 0, "is kept"},
		{"fail-on moves the line down", assert.Minor, []pair{{assert.Minor, assert.Fail}}, nil, assert.Fail, 1, "minor or above"},
		{"fail-on moves the line up", assert.Critical, []pair{{assert.Major, assert.Fail}}, nil, assert.Pass, 0, "at level critical."},
		{"undecided", assert.Major, []pair{{assert.Major, assert.Inconclusive}, {assert.Major, assert.Pass}}, nil, assert.Inconclusive, 3, "could not be decided"},
		{"undecided below the line", assert.Major, []pair{{assert.Minor, assert.Inconclusive}, {assert.Major, assert.Pass}}, nil, assert.Pass, 0, "is kept"},
		{"broken outweighs undecided", assert.Major, []pair{{assert.Major, assert.Inconclusive}, {assert.Major, assert.Fail}}, nil, assert.Fail, 1, "breaks"},
		{"nothing exercised", assert.Major, []pair{{assert.Major, assert.NotExercised}}, nil, assert.NotExercised, 3, "nothing is proven"},
		{"nothing at all", assert.Major, nil, nil, assert.NotExercised, 3, "nothing is proven"},
		{"not judged", assert.Major, []pair{{assert.Major, assert.Pass}}, []string{"no request"}, assert.Inconclusive, 2, "not every client"},
		{"broken outweighs not judged", assert.Major, []pair{{assert.Major, assert.Fail}}, []string{"no request"}, assert.Fail, 1, "breaks"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := Report{FailOn: row.failOn, Errors: row.errors}
			for i, p := range row.results {
				r.Results = append(r.Results, Result{Clause: string(rune('a' + i)), Level: p.level, Verdict: p.verdict})
			}
			r.Conclude()
			if r.Verdict != row.verdict || r.Exit != row.exit || !strings.Contains(r.Conclusion(), row.says) {
				t.Errorf("got %s, want %s (exit %d) with %q", r.Conclusion(), row.verdict, row.exit, row.says)
			}
		})
	}
}
