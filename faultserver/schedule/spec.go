package schedule

import "github.com/retrygate/retrygate/faultserver/strict"

// Spec is the `when` of a rule: the word always, or one shape with its settings. The zero value is always.
type Spec struct{ schedule Schedule }

// Of makes a Spec in Go.
func Of(s Schedule) Spec { return Spec{s} }

// Schedule returns the schedule, never nil.
func (s Spec) Schedule() Schedule {
	if s.schedule == nil {
		return Always{}
	}
	return s.schedule
}

// Always reports whether the schedule is on for every request.
func (s Spec) Always() bool {
	switch s.schedule.(type) {
	case nil, Always, *Always:
		return true
	}
	return false
}

// Check says what is wrong with the settings.
func (s Spec) Check() error {
	if c, ok := s.schedule.(Checker); ok {
		return c.Check()
	}
	return nil
}

// UnmarshalNode reads `always`, or a mapping such as `{first: 3}`. It leaves Check to whoever has the whole rule.
func (s *Spec) UnmarshalNode(n strict.Node) {
	pairs := n.Map()
	switch {
	case n.Kind() == strict.Text && n.String() == "always":
		s.schedule = Always{}
	case len(pairs) == 1:
		kind, err := Kinds.Get(pairs[0].Key.String())
		if err != nil {
			pairs[0].Key.Fail("%v", err)
			return
		}
		s.schedule = kind.New()
		pairs[0].Value.Decode(s.schedule)
	case n.Kind() == strict.Text && Kinds.Has(n.String()):
		kind, _ := Kinds.Get(n.String())
		n.Fail("the schedule %s needs settings, as in %s", kind.Name, kind.Example)
	default:
		n.Fail("a schedule is the word always or one shape with its settings, as in {first: 3}")
	}
}

// JSONSchema describes what UnmarshalNode accepts.
func (Spec) JSONSchema() map[string]any {
	forms := []any{map[string]any{"const": "always"}}
	for _, kind := range Kinds.All() {
		forms = append(forms, map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{kind.Name}, "description": kind.Summary,
			"properties": map[string]any{kind.Name: strict.SchemaPart(kind.New())},
		})
	}
	return map[string]any{"oneOf": forms}
}
