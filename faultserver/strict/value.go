package strict

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check lets v, and what is in it, validate itself as if a file had set everything in it that is not zero. It is for
// settings that were made in Go: the error has one line for each mistake, nil if there is none. A v that sets nothing has
// its defaults, and is right.
func Check(v any) error {
	d := &decoder{}
	p := addressable(reflect.ValueOf(v))
	if root := d.written(p, false); root != nil && len(root.keys) > 0 {
		d.validate(Node{root, d}, p)
	}
	var found *Errors
	if !errors.As(d.err(), &found) {
		return nil
	}
	var lines []string
	for _, e := range found.All {
		lines = append(lines, e.Msg)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// written is how a value would read in a file; nil for a zero that is not set on purpose, as it is behind a pointer. Places
// only tell the nodes apart.
func (d *decoder) written(v reflect.Value, set bool) *tree {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v, set = v.Elem(), true
	}
	if !v.IsValid() || v.IsZero() && !set {
		return nil
	}
	d.places++
	t := &tree{line: d.places, column: 1, kind: Number, text: fmt.Sprint(v.Interface())}
	switch v.Kind() {
	case reflect.Struct:
		t.kind, t.text = Map, ""
		known := fields(v.Type())
		for _, name := range known.names {
			if f, err := v.FieldByIndexErr(known.index[name]); err == nil {
				t.set(name, d.written(f, false))
			}
		}
	case reflect.Map:
		t.kind, t.text = Map, ""
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			t.set(key.String(), d.written(v.MapIndex(key), true))
		}
	case reflect.Slice:
		t.kind, t.text = Seq, ""
		for i := range v.Len() {
			if item := d.written(v.Index(i), true); item != nil {
				t.add(strconv.Itoa(i), item)
			}
		}
	case reflect.String:
		t.kind = Text
	case reflect.Bool:
		t.kind = Bool
	default:
		if _, ok := v.Interface().(time.Duration); ok {
			t.kind = Text
		}
	}
	return t
}

// set gives a mapping a field; nil is none.
func (t *tree) set(name string, value *tree) {
	if value != nil {
		t.keys = append(t.keys, &tree{line: value.line, column: 2, kind: Text, text: name, parent: t, step: name})
		t.add(name, value)
	}
}

// validate calls the Validators in p, which points to what reads as n, from the inside out.
func (d *decoder) validate(n Node, p reflect.Value) {
	v := p
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		known := fields(v.Type())
		for _, pair := range n.Map() {
			d.validate(pair.Value, addressable(v.FieldByIndex(known.index[pair.Key.String()])))
		}
	}
	if validator, ok := p.Interface().(Validator); ok {
		validator.Validate(n)
	}
}

// addressable gives a pointer to v, or to a copy of it: methods may want one.
func addressable(v reflect.Value) reflect.Value {
	switch {
	case v.Kind() == reflect.Pointer:
		return v
	case v.CanAddr():
		return v.Addr()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}
