package fault

import (
	"errors"
	"net/http"
	"reflect"
	"slices"

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

// OnConnections reports whether one of the faults acts on connections, and not on each exchange by itself.
func (s Spec) OnConnections() bool { return slices.ContainsFunc(s.each(), onConnections) }

func onConnections(f Fault) bool {
	switch f.(type) {
	case OnConnection, Lasting:
		return true
	}
	return false
}

// OnStreams reports whether one of the faults exists on HTTP/2 only. Exchanges without a stream are left alone then.
func (s Spec) OnStreams() bool {
	return slices.ContainsFunc(s.each(), func(f Fault) bool { _, ok := f.(Streamed); return ok })
}

// InHandshake reports whether one of the faults acts in TLS handshakes.
func (s Spec) InHandshake() bool {
	return slices.ContainsFunc(s.each(), func(f Fault) bool {
		_, ok := f.(InHandshake)
		return ok
	})
}

// Crowded reports whether one of the faults acts by how many requests come together.
func (s Spec) Crowded() bool {
	return slices.ContainsFunc(s.each(), func(f Fault) bool { _, ok := f.(Crowded); return ok })
}

// Weighs reports whether the body has to be read to know if the fault acts.
func (s Spec) Weighs() bool {
	w, ok := s.fault.(Weighing)
	return ok && w.Weighs()
}

// Check says what is wrong with the settings.
func (s Spec) Check() error {
	var all []error
	if len(s.each()) > 1 && s.OnConnections() {
		all = append(all, errors.New("a fault that acts on connections cannot stand in a list of faults; give it a rule of its own"))
	}
	for _, f := range s.each() {
		if c, ok := f.(Checker); ok {
			all = append(all, c.Check())
		} else {
			all = append(all, strict.Check(f))
		}
	}
	return errors.Join(all...)
}

// Dead returns the place, from 1, of the first fault in the list that never acts, because one before it settles the
// exchange; 0 if there is none.
func (s Spec) Dead() int {
	all := s.each()
	for i := range len(all) - 1 {
		if roleOf(all[i]) == Final {
			return i + 2
		}
	}
	return 0
}

// roleOf is the role of the fault's kind; faults of no kind are Passing.
func roleOf(f Fault) Role {
	for _, kind := range Kinds.All() {
		if reflect.TypeOf(kind.New()) == reflect.TypeOf(f) {
			return kind.Role
		}
	}
	return Passing
}

// Instead tells what to write where one fault in a list keeps the next from acting.
const Instead = "in a list, all faults act on one request; for one request after the other write steps: [503, 500]"

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
