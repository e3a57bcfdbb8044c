package strict

import (
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// fieldSet is how a struct reads in a file.
type fieldSet struct {
	names []string // in the order of the struct
	index map[string][]int
}

var fieldCache sync.Map // reflect.Type to *fieldSet

// fields lists a struct's fields by their names in a file: the yaml tag, else the Go name in kebab-case. Embedded structs
// without a tag count as if their fields stood in the outer one, which wins where names clash.
func fields(t reflect.Type) *fieldSet {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*fieldSet)
	}
	set := &fieldSet{index: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		name, skip := fieldName(f)
		if skip || !reachable(t, f.Index) {
			continue
		}
		if old, ok := set.index[name]; ok {
			if len(old) == len(f.Index) {
				panic("strict: " + t.String() + " has two fields called " + name)
			}
			if len(old) < len(f.Index) {
				continue
			}
		} else {
			set.names = append(set.names, name)
		}
		set.index[name] = f.Index
	}
	fieldCache.Store(t, set)
	return set
}

func fieldName(f reflect.StructField) (name string, skip bool) {
	tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	switch {
	case tag == "-" || !f.IsExported() || inlined(f):
		return "", true
	case tag != "":
		return tag, false
	default:
		return kebab(f.Name), false
	}
}

func inlined(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return f.Anonymous && tag == "" && t.Kind() == reflect.Struct
}

// reachable reports whether all structs on the way to a field are inlined: the fields of an embedded struct that has a
// name of its own belong to that name.
func reachable(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if !inlined(t.Field(i)) {
			return false
		}
		t = t.Field(i).Type
	}
	return true
}

// kebab turns KeyHeader into key-header and HTTPCode into http-code.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		startsWord := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if startsWord {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// listed joins names for a message: "a, b or c".
func listed(names []string) string {
	switch len(names) {
	case 0:
		return "no fields"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	}
}
