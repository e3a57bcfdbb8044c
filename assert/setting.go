package assert

import (
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Setting overrides one clause in a contract: its level, its parameters, or that it does not apply at all. In a file it is
// the word off, or a mapping with level and the clause's own fields.
type Setting struct {
	Off   bool
	Level *Level // nil: the clause's own

	params []strict.Node // fields of the clause; later ones win
}

// apply lets the setting change a clause that the contract made.
func (s Setting) apply(c Clause) {
	for _, n := range s.params {
		n.Decode(c)
	}
}

// settings is a contract's clauses section.
type settings map[string]Setting

// UnmarshalNode reads the section over what is there already.
func (s *settings) UnmarshalNode(n strict.Node) {
	if n.Kind() != strict.Map {
		n.Fail("clauses: want a mapping from clause ids to settings, as in retry-cap: {level: major}")
		return
	}
	for _, pair := range n.Map() {
		id := pair.Key.String()
		if _, err := Kinds.Get(id); err != nil {
			pair.Key.Fail("%v", err)
			continue
		}
		setting := (*s)[id]
		setting.read(id, pair.Value)
		if *s == nil {
			*s = settings{}
		}
		(*s)[id] = setting
	}
}

func (s *Setting) read(id string, n strict.Node) {
	switch {
	case n.Kind() == strict.Text && n.String() == "off":
		s.Off = true
	case n.Kind() == strict.Text && n.String() == "on":
		s.Off = false
	case n.Kind() != strict.Map:
		n.Fail("%s: want off, on, or a mapping such as {level: major}", id)
	default:
		s.Off = false
		if level, ok := n.Field("level"); ok {
			s.Level = new(Level)
			level.Decode(s.Level)
		}
		if rest := n.Without("level"); len(rest.Map()) > 0 {
			s.params = append(s.params[:len(s.params):len(s.params)], rest)
		}
	}
}
