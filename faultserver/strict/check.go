package strict

import (
	"cmp"
	"fmt"
)

// AtLeast fails at the field when v < least, as all of these do for NaN. It is for Validate: n is the struct's node.
func AtLeast[T cmp.Ordered](n Node, field string, v, least T) {
	if v >= least {
		return
	}
	n.At(field).Fail("%s: %v is too small; want at least %v", field, v, least)
}

// Above fails at the field when v <= bound.
func Above[T cmp.Ordered](n Node, field string, v, bound T) {
	if v > bound {
		return
	}
	n.At(field).Fail("%s: %v is too small; want more than %v", field, v, bound)
}

// Between fails at the field when v < least or v > most.
func Between[T cmp.Ordered](n Node, field string, v, least, most T) {
	if v >= least && v <= most {
		return
	}
	n.At(field).Fail("%s: %v is out of range; want %v to %v", field, v, least, most)
}

// ExactlyOne fails unless exactly one of the fields stands in the file, and returns the one that does. It stays silent
// next to an unknown field, which may well be the missing one misspelt.
func ExactlyOne(n Node, names ...string) string {
	var set []string
	for _, name := range names {
		if _, ok := n.Field(name); ok {
			set = append(set, name)
		}
	}
	switch {
	case len(set) == 1:
		return set[0]
	case len(set) > 1:
		n.At(set[1]).Fail("%s cannot stand together; keep one", and(set))
	case n.t != nil && !n.t.broken:
		n.Fail("one of %s is needed", listed(names))
	}
	return ""
}

func and(names []string) string {
	s := names[0]
	for i, name := range names[1:] {
		if i == len(names)-2 {
			s = fmt.Sprintf("%s and %s", s, name)
		} else {
			s += ", " + name
		}
	}
	return s
}
