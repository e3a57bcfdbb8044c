package strict_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// outer has a part that validates itself too, and fields that no file sets.
type outer struct {
	Name   string
	Inner  *bounds
	Parts  []string
	Pairs  map[string]string
	hidden int
	F      func() `yaml:"-"`
}

func (o *outer) Validate(n strict.Node) {
	if o.Name == "bad" {
		n.At("name").Fail("name: bad")
	}
	pairs, _ := n.Field("pairs")
	for _, pair := range pairs.Map() {
		if pair.Value.String() == "bad" {
			pair.Key.Fail("pairs: %s is bad", pair.Key.String())
		}
	}
	if parts, ok := n.Field("parts"); ok && len(parts.Seq()) != len(o.Parts) {
		n.Fail("parts are lost")
	}
}

func TestCheckValidatesValues(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"zero has its defaults":  {&outer{}, ""},
		"a value, no pointer":    {bounds{Code: 99, Every: 1, A: "x"}, "code: 99 is out of range; want 200 to 599"},
		"what no file sets":      {&outer{hidden: 1, F: func() {}}, ""},
		"fine":                   {&outer{Name: "x", Inner: &bounds{Code: 200, Every: time.Second, A: "x"}, Parts: []string{"", "y"}}, ""},
		"zero behind a pointer":  {&outer{Inner: &bounds{}}, "code: 0 is out of range; want 200 to 599"},
		"inside and outside":     {&outer{Name: "bad", Inner: &bounds{Code: 200, Every: -1, A: "x"}}, "name: bad\nevery: -1ns is too small; want more than 0s"},
		"none of two is needed":  {&bounds{Code: 200, Every: 1}, "one of a or b is needed"},
		"both":                   {&bounds{Code: 200, Every: 1, A: "x", B: "y"}, "a and b cannot stand together; keep one"},
		"a key, in stable order": {&outer{Pairs: map[string]string{"c": "bad", "b": "bad", "a": "x"}}, "pairs: b is bad\npairs: c is bad"},
		"no struct":              {3, ""},
		"a nil pointer":          {(*outer)(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := strict.Check(c.value)
			if got := text(err); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
