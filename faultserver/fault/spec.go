package fault

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// pass is the word that leaves an exchange alone.
const pass = "pass"

// Spec is what a rule does to an exchange, as a plan writes it: one kind with its settings ({status: {code: 503}}), a list
// of them that apply in order, an integer for a status, a kind's name for its defaults, or the word pass.
// The zero Spec says nothing.
type Spec struct {
	name  string
	fault Fault
}

// Of makes a Spec in Go; name is what journals call it.
func Of(name string, f Fault) Spec { return Spec{name, f} }

// Pass leaves the exchange alone.
func Pass() Spec { return Spec{pass, chain{}} }

// Fault returns the fault; nil if the Spec says nothing.
func (s Spec) Fault() Fault { return s.fault }

// Name is the kinds' names joined: "latency+status"; "pass" for nothing to do.
func (s Spec) Name() string { return s.name }

// IsPass reports whether the exchange is to be left alone.
func (s Spec) IsPass() bool { return s.name == pass }

// each yields the faults that apply in order.
func (s Spec) each() []Fault {
	switch f := s.fault.(type) {
	case nil:
		return nil
	case chain:
		return f
	default:
		return []Fault{f}
	}
}

// Early reports whether one of the faults may act before the request's body was read; then the others find it unread too.
func (s Spec) Early() bool {
	return slices.ContainsFunc(s.each(), func(f Fault) bool {
		e, ok := f.(Early)
		return ok && e.Early()
	})
}

// Weighs reports whether the body has to be read to know if the fault acts.
func (s Spec) Weighs() bool {
	w, ok := s.fault.(Weighing)
	return ok && w.Weighs()
}

// Check says what is wrong with the settings.
func (s Spec) Check() error {
	var all []error
	for _, f := range s.each() {
		if c, ok := f.(Checker); ok {
			all = append(all, c.Check())
		} else {
			all = append(all, strict.Check(f))
		}
	}
	return errors.Join(all...)
}

// Dead returns the place, from 1, of the first fault in the list that never acts, because the one before it ends the
// exchange; 0 if there is none.
func (s Spec) Dead() int {
	all := s.each()
	for i := 1; i < len(all); i++ {
		if _, ok := all[i-1].(Last); ok {
			return i + 1
		}
	}
	return 0
}

// Fresh returns the Spec with faults that remember nothing yet.
func (s Spec) Fresh() Spec { return Spec{s.name, fresh(s.fault)} }

func fresh(f Fault) Fault {
	switch f := f.(type) {
	case chain:
		all := make(chain, len(f))
		for i := range f {
			all[i] = fresh(f[i])
		}
		return all
	case Stateful:
		return f.Fresh()
	}
	return f
}

// IsSelective reports whether the fault may leave exchanges alone by itself.
func (s Spec) IsSelective() bool {
	_, ok := s.fault.(Selective)
	return ok
}

// Select returns the Spec for one exchange; false when the fault leaves it alone. It is asked once for each.
func (s Spec) Select(w http.ResponseWriter, r *http.Request) (chosen Spec, ok bool) {
	selective, ok := s.fault.(Selective)
	if !ok {
		return s, true
	}
	f := selective.Select(w, r)
	return Spec{s.name, f}, f != nil
}

// UnmarshalNode reads a fault from a plan.
func (s *Spec) UnmarshalNode(n strict.Node) {
	list := []strict.Node{n}
	if n.Kind() == strict.Seq {
		list = n.Seq()
		if len(list) == 0 {
			n.Fail("the list of faults is empty; write pass to leave the exchange alone")
			return
		}
	}
	var names []string
	var faults []Fault
	for _, item := range list {
		if item.Kind() == strict.Text && item.String() == pass {
			if len(list) > 1 {
				item.Fail("pass cannot stand in a list of faults: the others would act all the same")
				return
			}
			*s = Pass()
			return
		}
		if name, f := one(item); f != nil {
			names, faults = append(names, name), append(faults, f)
		}
	}
	if len(faults) > 0 {
		*s = Spec{strings.Join(names, "+"), Chain(faults...)}
	}
}

// one reads a single fault, nil after an error.
func one(n strict.Node) (string, Fault) {
	switch n.Kind() {
	case strict.Number:
		f := &Status{}
		n.Decode(&f.Code)
		if n.Failed() {
			return "", nil
		}
		strict.Between(n, "code", f.Code, minStatus, maxStatus)
		return "status", f
	case strict.Text:
		kind, err := Kinds.Get(n.String())
		if err != nil {
			n.Fail("unknown fault %q%s", n.String(), registry.Suggest(n.String(), append(Kinds.Names(), pass)))
			return "", nil
		}
		return kind.Name, kind.New()
	case strict.Map:
		return settings(n)
	}
	n.Fail("found %s; want a fault such as {status: {code: 503}}, 503 or pass", n.Kind())
	return "", nil
}

func settings(n strict.Node) (string, Fault) {
	pairs := n.Map()
	if len(pairs) != 1 {
		n.Fail("%d faults in one mapping; want one, or a list of faults that apply in order: [{latency: ...}, {status: ...}]", len(pairs))
		return "", nil
	}
	key, value := pairs[0].Key, pairs[0].Value
	kind, err := Kinds.Get(key.String())
	if err != nil {
		key.Fail("%v", err)
		return "", nil
	}
	if value.Kind() == strict.Null {
		value.Fail("%s has no settings; write {%s: {}} or just %s for the defaults", kind.Name, kind.Name, kind.Name)
		return "", nil
	}
	f := kind.New()
	value.Decode(f)
	return kind.Name, f
}

// JSONSchema describes what UnmarshalNode accepts.
func (Spec) JSONSchema() map[string]any {
	words := []string{pass}
	var single []any
	for _, kind := range Kinds.All() {
		words = append(words, kind.Name)
		single = append(single, map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{kind.Name}, "description": kind.Summary,
			"properties": map[string]any{kind.Name: strict.SchemaPart(kind.New())},
		})
	}
	single = append(single,
		map[string]any{"type": "integer", "minimum": minStatus, "maximum": maxStatus, "description": "a status without further settings"},
		map[string]any{"enum": words})
	list := map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"oneOf": single}}
	return map[string]any{"oneOf": append(single[:len(single):len(single)], list)}
}

// String is the name, for messages.
func (s Spec) String() string {
	if s.fault == nil {
		return "no fault"
	}
	return "fault " + s.name
}
