package strict_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// bounds uses every helper for Validate.
type bounds struct {
	Code  int
	Share float64
	Every time.Duration
	For   time.Duration
	A, B  string
}

func (b bounds) Validate(n strict.Node) {
	strict.Between(n, "code", b.Code, 200, 599)
	strict.Between(n, "share", b.Share, 0, 1)
	strict.Above(n, "every", b.Every, 0)
	strict.AtLeast(n, "for", b.For, 0)
	strict.ExactlyOne(n, "a", "b")
}

func TestHelpers(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"fine":           {"{code: 503, a: x}", ""},
		"between":        {"{code: 700, a: x}", "f:1:8: code: 700 is out of range; want 200 to 599"},
		"above":          {"{every: 0s, a: x}", "f:1:9: every: 0s is too small; want more than 0s"},
		"at least":       {"{for: -2s, a: x}", "f:1:7: for: -2s is too small; want at least 0s"},
		"none of two":    {"{code: 500}", "f:1:1: one of a or b is needed"},
		"both":           {"{a: x, b: y}", "f:1:11: a and b cannot stand together; keep one"},
		"misspelt":       {"{aa: x}", `f:1:2: unknown field "aa"; did you mean a?`},
		"wrong type":     {"{code: x, a: x}", `f:1:8: found the text "x"; want a whole number such as 3`},
		"failed already": {"{every: 3, a: x}", "f:1:9: 3 has no unit; write 3s or 3ms"},
	} {
		t.Run(name, func(t *testing.T) {
			err := strict.Decode("f", []byte(c.text), &bounds{Code: 200, Every: time.Second})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestBetweenRefusesNaN(t *testing.T) {
	var n strict.Node
	if err := strict.Decode("f", []byte("{share: 0.5}"), &n); err != nil {
		t.Fatal(err)
	}
	strict.Between(n, "share", math.NaN(), 0, 1)
	if !n.Failed() {
		t.Error("NaN passed for a number from 0 to 1")
	}
}

func TestNode(t *testing.T) {
	var n strict.Node
	if err := strict.Decode("f", []byte("b: 1\na: {c: [x, 2]}\n"), &n); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, p := range n.Map() {
		keys = append(keys, p.Key.String())
	}
	if got := strings.Join(keys, " "); got != "b a" {
		t.Errorf("keys %q are not in the order of the file", got)
	}
	a, ok := n.Field("a")
	c, ok2 := a.Field("c")
	if !ok || !ok2 || c.Pos().String() != "f:2:8" || len(c.Seq()) != 2 || c.Seq()[1].Kind() != strict.Number {
		t.Errorf("c stands at %v with %v", c.Pos(), c.Seq())
	}
	if _, ok := n.Field("z"); ok || n.At("z").Line() != 1 || (strict.Node{}).Failed() {
		t.Error("a field that was left out has no node of its own")
	}
	strict.Node{}.Fail("dropped")
}
