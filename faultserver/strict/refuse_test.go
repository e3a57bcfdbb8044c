package strict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func TestPlainYAMLOnly(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", "f.yaml:1:1: the file is empty"},
		"blank":               {" \n\n", "f.yaml:1:1: the file is empty"},
		"comments":            {"# a\n# b\n", "f.yaml:1:1: the file holds nothing but comments"},
		"only a marker":       {"---\n", "f.yaml:1:1: the file holds nothing but comments"},
		"anchor":              {"name: &x a", "f.yaml:1:7: anchors are refused: write the value out where it is used (quote it if text was meant)"},
		"alias":               {"name: x\nsummary: *x", "f.yaml:2:10: aliases are refused: write the value out (quote it if text was meant)"},
		"merge key":           {"waits:\n  <<: {first: 1s}", "f.yaml:2:3: merge keys (<<) are refused: write the fields out"},
		"tag":                 {"count: !!int 3", "f.yaml:1:8: tags are refused: write plain values (quote it if text was meant)"},
		"complex key":         {"? name: x", "f.yaml:1:1: complex keys (?) are refused: write key: value"},
		"colon on its own":    {"name\n: x", "f.yaml:2:1: a colon without a key before it on its line"},
		"colon at the value":  {"waits: {first:1s}", "f.yaml:1:14: write a space after the colon (quote the whole if text was meant)"},
		"second document":     {"name: x\n---\nname: y", "f.yaml:2:1: a second document begins here; a file holds one"},
		"after the end":       {"name: x\n...\nname: y", "f.yaml:2:1: the document ends here, but more follows; a file holds one"},
		"directive":           {"%YAML 1.2\n---\nname: x", "f.yaml:1:1: directives (%) are refused (quote it if text was meant)"},
		"mapping as key":      {"{{a: b}: c}", "f.yaml:1:8: not valid YAML: found an invalid key for this map"},
		"tab":                 {"waits:\n\tfirst: 1s", "f.yaml:2:1: not valid YAML: found character '\\t' that cannot start any token; a tab stands in the indentation; YAML takes spaces only"},
		"tab after spaces":    {"waits:\n \tfirst: 1s", "f.yaml:2:2: a tab stands in the indentation; YAML takes spaces only"},
		"not UTF-8":           {"name: x\nsummary: \xff", "f.yaml:2:10: not UTF-8 text; save the file as UTF-8"},
		"NUL":                 {"name: a\x00b", `f.yaml:1:8: a control character (\x00) stands here; write it as an escape in double quotes`},
		"open quote":          {"name: \"x\nsummary: y", "f.yaml:1:7: not valid YAML: could not find end character of double-quoted text"},
		"open bracket":        {"list: [1, 2", "f.yaml:1:7: not valid YAML: "},
		"open brace":          {"waits: {first: 1s", "f.yaml:1:8: not valid YAML: "},
		"stray bracket":       {"list: ]", "f.yaml:1:7: not valid YAML: "},
		"colon in value":      {"name: a: b", `f.yaml:1:7: not valid YAML: mapping value is not allowed in this context; quote a value that contains ": "`},
		"reserved character":  {"name: @x", "f.yaml:1:7: not valid YAML: '@' is a reserved character; put the value in quotes"},
		"text after quote":    {`name: "x" y`, "f.yaml:1:11: not valid YAML: value is not allowed in this context; check the indentation"},
		"odd indentation":     {"waits:\n    first: 1s\n  max: 2s", "f.yaml:3:3: not valid YAML: "},
		"key without a value": {"name: x\nsummary", "f.yaml:2:1: not valid YAML: "},
		"too large":           {strings.Repeat("#\n", strict.MaxBytes/2+1), "f.yaml:1:1: the file has 1048578 bytes; at most 1048576 are read"},
		"empty lines":         {"name: |\n  x" + strings.Repeat("\n", 60), "f.yaml:53:1: more than 50 empty lines in a row; take some out"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode(t, c.text)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line:\n%v", err)
			}
		})
	}
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(depth int) string { return "raw: " + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) }
	if _, err := decode(t, nested(strict.MaxDepth)); err != nil {
		t.Errorf("%d levels were refused: %v", strict.MaxDepth, err)
	}
	var block strings.Builder
	for i := range 70 {
		fmt.Fprintf(&block, "%*sa:\n", i, "")
	}
	for name, text := range map[string]string{
		"one too many":    nested(strict.MaxDepth + 1),
		"block mappings":  block.String(),
		"block sequences": "raw:\n" + strings.Repeat("- ", 70) + "a",
		"mixed":           "raw:\n" + strings.Repeat("- ", 40) + strings.Repeat("{a: ", 30),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := decode(t, text); err == nil || !strings.Contains(err.Error(), "nested more than 64 deep") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestHostileFilesEndSoon feeds the largest file of each shape that the YAML library is slow on or recurses into.
func TestHostileFilesEndSoon(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (strict.MaxBytes-16)/len(s)) }
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 x\n")
	for i := range 30 {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	for name, text := range map[string]string{
		"bomb": bomb.String(), "brackets": fill("["), "braces": fill("{"), "dashes": fill("- "), "question marks": fill("? "),
		"anchors": fill("&a "), "aliases": fill("*a "), "tags": fill("!a "), "reserved": fill("@"), "quotes": fill("''"),
		"double quotes": fill(`"`), "open quote": `a: "` + fill("x\n "), "empty lines": "a: |\n" + fill("\n"),
		"blank lines": "a: |\n" + fill("  \n"), "angles": fill("<"), "merge": fill("<< "), "colons": fill(": "),
		"keys": fill("k: 1\n"), "nulls": fill("k:\n"), "items": "a:\n" + fill("-\n"), "flow": "a: [" + fill("1,"),
		"documents": fill("---\n"), "comments": fill("# x\n"), "percent": fill("% "), "folded": "name: >\n" + fill(" x\n"),
		"spread lines": "name: |\n" + fill(" x\n\n"), "49 blanks": "name: |\n " + fill("x")[:1<<19] + strings.Repeat("\n", 49),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := decode(t, text)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v: %v", took, err)
			} else {
				t.Logf("%6d ms %.100v", took.Milliseconds(), err)
			}
		})
	}
}
