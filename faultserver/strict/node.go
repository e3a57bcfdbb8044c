package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Kind says what stands at a node.
type Kind uint8

// The kinds of node. A number in quotes is Text.
const (
	Null Kind = iota
	Bool
	Number
	Text
	Map
	Seq
)

var kindNames = [...]string{"nothing", "a truth value", "a number", "text", "a mapping", "a sequence"}

// String names the kind as messages do.
func (k Kind) String() string { return kindNames[k] }

// Node is a value in a file and where it stands. The zero Node stands nowhere: it has no fields and drops errors.
type Node struct {
	t *tree
	d *decoder
}

// Pair is one entry of a mapping.
type Pair struct{ Key, Value Node }

// tree is what the YAML library's syntax tree comes down to once everything fancy was refused.
type tree struct {
	kind         Kind
	line, column int
	text         string // scalars and keys, as they read without quotes
	keys, items  []*tree
	broken       bool // a field is unknown, so that nothing follows from what is missing

	parent *tree  // nil: the whole file
	step   string // the key or number that leads here from there
}

// pointer is the way from the whole file to the value, as a JSON Pointer.
func (t *tree) pointer() string {
	if t == nil || t.parent == nil {
		return ""
	}
	return t.parent.pointer() + "/" + escape.Replace(t.step)
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// Kind says what stands here.
func (n Node) Kind() Kind {
	if n.t == nil {
		return Null
	}
	return n.t.kind
}

// Line counts from 1; 0 for the zero Node.
func (n Node) Line() int { return n.Pos().Line }

// Column counts from 1, in characters; 0 for the zero Node.
func (n Node) Column() int { return n.Pos().Column }

// Pos is where the node stands.
func (n Node) Pos() Pos {
	if n.t == nil {
		return Pos{}
	}
	return Pos{n.d.file, n.t.line, n.t.column}
}

// String is the text of a scalar, numbers as they are written; "" for mappings and sequences.
func (n Node) String() string {
	if n.t == nil {
		return ""
	}
	return n.t.text
}

// Map gives the entries of a mapping in the order of the file, nil for anything else.
func (n Node) Map() []Pair {
	if n.Kind() != Map {
		return nil
	}
	pairs := make([]Pair, len(n.t.keys))
	for i, k := range n.t.keys {
		pairs[i] = Pair{Node{k, n.d}, Node{n.t.items[i], n.d}}
	}
	return pairs
}

// Seq gives the elements of a sequence, nil for anything else.
func (n Node) Seq() []Node {
	if n.Kind() != Seq {
		return nil
	}
	nodes := make([]Node, len(n.t.items))
	for i, t := range n.t.items {
		nodes[i] = Node{t, n.d}
	}
	return nodes
}

// Field finds a mapping's value by its key.
func (n Node) Field(name string) (Node, bool) {
	if n.Kind() == Map {
		for i, k := range n.t.keys {
			if k.text == name {
				return Node{n.t.items[i], n.d}, true
			}
		}
	}
	return Node{}, false
}

// Without is the mapping without some of its fields, for a part that another type reads. Anything else comes back as it is.
func (n Node) Without(names ...string) Node {
	if n.Kind() != Map {
		return n
	}
	rest := *n.t
	rest.keys, rest.items = nil, nil
	for i, k := range n.t.keys {
		if !slices.Contains(names, k.text) {
			rest.keys, rest.items = append(rest.keys, k), append(rest.items, n.t.items[i])
		}
	}
	return Node{&rest, n.d}
}

// At is the field's value, or the node itself when the field was left out: the place for an error about the field.
func (n Node) At(name string) Node {
	if f, ok := n.Field(name); ok {
		return f
	}
	return n
}

// Decode reads the node into the value that into points to.
func (n Node) Decode(into any) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("strict: Decode wants a pointer, not %T", into))
	}
	if n.d != nil {
		n.d.decode(n, v)
	}
}

// Fail adds an error at this place.
func (n Node) Fail(format string, args ...any) {
	if n.d != nil {
		n.d.failAt(n.t, format, args...)
	}
}

// Failed reports whether this place, or one inside it, has an error.
func (n Node) Failed() bool {
	if n.t == nil {
		return false
	}
	if n.t.broken || n.d.at[[2]int{n.t.line, n.t.column}] {
		return true
	}
	failed := func(t *tree) bool { return Node{t, n.d}.Failed() }
	return slices.ContainsFunc(n.t.keys, failed) || slices.ContainsFunc(n.t.items, failed)
}

// found describes what stands here for a "found X" message.
func (n Node) found() string {
	switch n.Kind() {
	case Bool:
		return n.t.text
	case Number:
		return "the number " + clip(n.t.text)
	case Text:
		return fmt.Sprintf("the text %q", clip(n.t.text))
	default:
		return n.Kind().String()
	}
}
