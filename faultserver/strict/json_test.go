package strict_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func TestJSONKeepsOrderAndSpelling(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"block", "z: 1\na: [2m, 'yes', \"<&>\"]\nb: {c: true, d: ~}\n", `{"z":1,"a":["2m","yes","<&>"],"b":{"c":true,"d":null}}`},
		{"numbers", "[1, -0.5, 1e3, +1, .5, 007, 1., 1e999, '12']", `[1,-0.5,1e3,1,0.5,7,1,1e999,"12"]`},
		{"JSON", `{"rules": [{"fault": 503, "name": "\u00e9\n\"/"}]}`, `{"rules":[{"fault":503,"name":"é\n\"/"}]}`},
		{"block text", "body: |\n  one\n  two\n", `{"body":"one\ntwo\n"}`},
		{"scalar", "pass", `"pass"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n strict.Node
			if err := strict.Decode("f.yaml", []byte(c.file), &n); err != nil {
				t.Fatal(err)
			}
			if got := n.JSON(); string(got) != c.want || !json.Valid(got) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if got := (strict.Node{}).JSON(); string(got) != "null" {
		t.Errorf("the zero node became %s", got)
	}
}

func TestErrorsPointAtTheirPlace(t *testing.T) {
	type inner struct{ Max int }
	type outer struct {
		Rules []inner
		Named map[string]inner
		Split split
	}
	for _, c := range []struct{ name, file, want string }{
		{"value in a list", "rules: [{max: 1}, {max: x}]", "/rules/1/max"},
		{"unknown field", "rules: [{mux: 1}]", "/rules/0/mux"},
		{"block mapping that begins where its key does", "rules:\n  - mux: 1\n", "/rules/0/mux"},
		{"key that needs escapes", "named: {a/b~c: {max: x}}", "/named/a~1b~0c/max"},
		{"second key", "named: {a: {max: 1}, a: {max: 2}}", "/named/a"},
		{"part that another type reads", "split: {level: a, max: x}", "/split/max"},
		{"whole file", "[1]", ""},
		{"no text of that kind", "rules: [", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var one strict.Error
			if err := strict.Decode("f.yaml", []byte(c.file), &outer{}); !errors.As(err, &one) || one.Pointer != c.want {
				t.Errorf("got %q (%v), want %q", one.Pointer, err, c.want)
			}
		})
	}
}
