package strict

import (
	"encoding"
	"reflect"
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
)

var durationType = reflect.TypeFor[time.Duration]()

// decode reads n into what pointer p points to, then lets it validate itself.
func (d *decoder) decode(n Node, p reflect.Value) {
	switch into := p.Interface().(type) {
	case Unmarshaler:
		into.UnmarshalNode(n)
	case *Node:
		*into = n
	default:
		if !d.value(n, p) {
			return
		}
	}
	if v, ok := p.Interface().(Validator); ok {
		v.Validate(n)
	}
}

// value reads n by the Go type of what p points to; false when nothing was read, so that there is nothing to validate.
func (d *decoder) value(n Node, p reflect.Value) bool {
	v := p.Elem()
	if n.Kind() == Null {
		n.Fail("no value; write one or leave the field out")
		return false
	}
	if v.Type() == durationType {
		d.duration(n, v)
		return true
	}
	if text, ok := p.Interface().(encoding.TextUnmarshaler); ok {
		return d.text(n, text)
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := v
		if v.IsNil() {
			fresh = reflect.New(v.Type().Elem())
		}
		d.decode(n, fresh)
		v.Set(fresh)
	case reflect.Struct:
		return d.structure(n, v)
	case reflect.Map:
		return d.mapInto(n, v)
	case reflect.Slice:
		return d.slice(n, v)
	case reflect.String:
		d.string(n, v)
	case reflect.Bool:
		d.bool(n, v)
	case reflect.Float32, reflect.Float64:
		d.float(n, v)
	default:
		if !v.CanInt() && !v.CanUint() {
			panic("strict: cannot decode into a " + v.Type().String())
		}
		d.int(n, v)
	}
	return true
}

func (d *decoder) text(n Node, into encoding.TextUnmarshaler) bool {
	if n.Kind() == Map || n.Kind() == Seq {
		n.Fail("found %s; want one word or value", n.found())
		return false
	}
	if err := into.UnmarshalText([]byte(n.t.text)); err != nil {
		n.Fail("%v", err)
		return false
	}
	return true
}

func (d *decoder) structure(n Node, v reflect.Value) bool {
	known := fields(v.Type())
	if n.Kind() != Map {
		n.Fail("found %s; want a mapping with %s", n.found(), listed(known.names))
		return false
	}
	for _, pair := range n.Map() {
		name := pair.Key.t.text
		at, ok := known.index[name]
		if !ok {
			n.t.broken = true
			pair.Key.Fail("unknown field %q%s", clip(name), registry.Suggest(name, known.names))
			continue
		}
		d.decode(pair.Value, reach(v, at).Addr())
	}
	return true
}

// reach walks to a field, filling in embedded pointers on the way.
func reach(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

func (d *decoder) mapInto(n Node, v reflect.Value) bool {
	if v.Type().Key().Kind() != reflect.String {
		panic("strict: cannot decode into a " + v.Type().String() + ": its keys are not strings")
	}
	if n.Kind() != Map {
		n.Fail("found %s; want a mapping", n.found())
		return false
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.t.keys))
	for _, pair := range n.Map() {
		item := reflect.New(v.Type().Elem())
		d.decode(pair.Value, item)
		m.SetMapIndex(reflect.ValueOf(pair.Key.t.text).Convert(v.Type().Key()), item.Elem())
	}
	v.Set(m)
	return true
}

func (d *decoder) slice(n Node, v reflect.Value) bool {
	if n.Kind() != Seq {
		n.Fail("found %s; want a sequence such as [a, b]", n.found())
		return false
	}
	s := reflect.MakeSlice(v.Type(), len(n.t.items), len(n.t.items))
	for i, item := range n.Seq() {
		d.decode(item, s.Index(i).Addr())
	}
	v.Set(s)
	return true
}
