package strict

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parse turns the text into a tree, nil after an error that leaves nothing to decode.
func parse(d *decoder, data []byte) (root *tree) {
	text, ok := readable(d, data)
	if !ok {
		return nil
	}
	// The library panics on some malformed input; to its user that is one more syntax error.
	defer func() {
		if r := recover(); r != nil {
			d.fail(1, 1, "", "not valid YAML (the parser gave up: %v)", r)
			root = nil
		}
	}()
	all, ok := tokens(d, text)
	if !ok {
		return nil
	}
	// A syntax error comes first: what stands behind it is not what it seems.
	if bad := all.InvalidToken(); bad != nil {
		d.syntax(bad, bad.Error)
		return nil
	}
	if !plainOnly(d, all, text) {
		return nil
	}
	file, err := parser.Parse(all, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.parseError(err)
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			return d.convert(doc.Body)
		}
	}
	if strings.TrimSpace(text) == "" {
		d.fail(1, 1, "", "the file is empty")
	} else {
		d.fail(1, 1, "", "the file holds nothing but comments")
	}
	return nil
}

// parseError keeps the message and the place of the library's error and drops its picture of the surroundings.
func (d *decoder) parseError(err error) {
	var known interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if errors.As(err, &known) && known.GetToken() != nil {
		d.syntax(known.GetToken(), known.GetMessage())
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	d.fail(1, 1, "", "not valid YAML: %s", clip(first))
}

// hints say what to do about the library's more cryptic messages.
var hints = []struct{ message, hint string }{
	{"mapping value is not allowed", "quote a value that contains \": \""},
	{"value is not allowed in this context", "check the indentation, and quote a value that has quotes or brackets in it"},
	{"cannot start any token", "a tab stands in the indentation; YAML takes spaces only"},
	{"is a reserved character", "put the value in quotes"},
	{"non-map value is specified", "write key: value, with the same indentation as the keys around it"},
	{"unexpected key name", "write key: value, with the key on one line"},
}

func (d *decoder) syntax(tk *token.Token, message string) {
	hint := ""
	for _, h := range hints {
		if strings.Contains(message, h.message) {
			hint = "; " + h.hint
			break
		}
	}
	message, _, _ = strings.Cut(message, ". ") // the rest tells of the library's inner life
	message = strings.NewReplacer("\n", " ", "\t", `\t`).Replace(clip(message))
	d.fail(max(1, tk.Position.Line), max(1, tk.Position.Column), tk.Value, "not valid YAML: %s%s", message, hint)
}

// convert copies the library's tree; depth is bounded by the scan before.
func (d *decoder) convert(n ast.Node) *tree {
	t := &tree{line: 1, column: 1}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		t.line, t.column = max(1, tk.Position.Line), max(1, tk.Position.Column)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		d.mapping(t, n.Values)
	case *ast.MappingValueNode:
		d.mapping(t, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		t.kind = Seq
		for i, v := range n.Values {
			t.add(strconv.Itoa(i), d.convert(v))
		}
	case *ast.LiteralNode:
		t.kind, t.text = Text, n.Value.Value
	case *ast.StringNode:
		t.text = n.Value
		t.kind = Text
		if n.Token.Type == token.StringType {
			t.kind = plainKind(n.Value)
		}
	case *ast.NullNode:
		t.kind = Null
		if n.Token.Type == token.NullType {
			t.text = n.Token.Value // a key may be called null
		}
	case ast.ScalarNode:
		t.text = n.GetToken().Value
		t.kind = plainKind(t.text)
	default:
		d.failAt(t, "not a plain value (%s)", strings.ToLower(n.Type().String()))
	}
	return t
}

func (d *decoder) mapping(t *tree, values []*ast.MappingValueNode) {
	t.kind = Map
	seen := map[string]*tree{}
	for i, v := range values {
		key := d.convert(v.Key)
		if i == 0 {
			// The library places a block mapping at its first colon.
			if key.line < t.line || key.line == t.line && key.column < t.column {
				t.line, t.column = key.line, key.column
			}
		}
		if key.kind == Map || key.kind == Seq {
			d.failAt(key, "%s cannot be a key", key.kind)
			continue
		}
		key.parent, key.step = t, key.text
		if first := seen[key.text]; first != nil {
			d.failAt(key, "%s stands here a second time; the first is %s", strconv.Quote(clip(key.text)), place(first))
			continue
		}
		seen[key.text] = key
		t.keys = append(t.keys, key)
		t.add(key.text, d.convert(v.Value))
	}
}

// add puts a value into a mapping or sequence.
func (t *tree) add(step string, item *tree) {
	item.parent, item.step = t, step
	t.items = append(t.items, item)
}

func place(t *tree) string { return fmt.Sprintf("on line %d, column %d", t.line, t.column) }
