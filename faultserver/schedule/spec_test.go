package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retrygate/retrygate/faultserver/schedule"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func TestSpec(t *testing.T) {
	first, window := schedule.First(3), schedule.Window{From: time.Second, For: time.Minute}
	for _, c := range []struct {
		text string
		want schedule.Schedule
	}{
		{"always", schedule.Always{}},
		{"{always: {}}", &schedule.Always{}},
		{"{first: 3}", &first},
		{"{window: {from: 1s, for: 1m}}", &window},
		{"{burst: {on: 2s, every: 10s}}", &schedule.Burst{On: 2 * time.Second, Every: 10 * time.Second}},
	} {
		var s schedule.Spec
		if err := strict.Decode("plan.yaml", []byte(c.text), &s); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, s.Schedule()); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
}

func TestSpecRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"sometimes":                 `1:1: a schedule is the word always or one shape with its settings, as in {first: 3}`,
		"first":                     `1:1: the schedule first needs settings, as in {first: 3}`,
		"{frist: 3}":                `1:2: unknown schedule "frist"; did you mean first?`,
		"{first: 3, always: {}}":    `1:1: a schedule is the word always`,
		"{first: many}":             `1:9: `,
		"{window: {form: 2m}}":      `1:11: unknown field "form"; did you mean for or from?`,
		"{burst: {on: 2, every: 3}": `plan.yaml:1`,
	} {
		var s schedule.Spec
		err := strict.Decode("plan.yaml", []byte(text), &s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// Every shape is documented, and its example is one.
func TestKinds(t *testing.T) {
	for _, kind := range schedule.Kinds.All() {
		var s schedule.Spec
		if err := strict.Decode("example", []byte(kind.Example), &s); err != nil {
			t.Errorf("%s: its example: %v", kind.Name, err)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: its example: %v", kind.Name, err)
		}
		if !strings.Contains(kind.Example, kind.Name) || kind.Summary == "" {
			t.Errorf("%s is not documented", kind.Name)
		}
	}
}

func TestSpecZero(t *testing.T) {
	if s := (schedule.Spec{}); !s.Always() || s.Check() != nil || !s.Schedule().Active(time.Hour, 99) {
		t.Error("the zero Spec is not always")
	}
	if schedule.Of(schedule.First(1)).Always() {
		t.Error("first 1 is taken for always")
	}
}
