// Package strict reads YAML (and JSON, which is YAML) into Go values and forgives nothing: an unknown field, a repeated
// key, a wrong type or a value out of range is an error with its place, and all errors of a file come at once.
//
// A file is one document of plain mappings, sequences and scalars. Anchors, aliases, merge keys, tags and directives are
// refused, so that what a reader sees is what applies and no file can grow while it is read.
package strict

import (
	"fmt"
	"reflect"
)

// Limits of one file. What passes them is refused before the YAML library sees it.
const (
	MaxBytes = 1 << 20 // size
	MaxDepth = 64      // mappings and sequences inside each other
)

// Unmarshaler is implemented by types that read themselves. Errors are reported through n.Fail.
type Unmarshaler interface{ UnmarshalNode(n Node) }

// Validator is implemented by types whose values can be wrong together. Validate runs after the value was decoded, also
// when parts of it failed; an error at a place that already has one is dropped, so that one mistake is told once.
type Validator interface{ Validate(n Node) }

// Decode reads data into the value that into points to; fields that the file leaves out keep what they held. The error is
// nil or an *Errors with every mistake in the file; file is only used to name the place.
func Decode(file string, data []byte, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("strict: Decode wants a pointer, not %T", into))
	}
	d := &decoder{file: file}
	if root := parse(d, data); root != nil {
		d.decode(Node{root, d}, v)
	}
	return d.err()
}
