package strict_test

import (
	"testing"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// split reads its level itself and leaves the rest to another type.
type split struct {
	level string
	rest  struct{ Max int }
}

func (s *split) UnmarshalNode(n strict.Node) {
	n.At("level").Decode(&s.level)
	n.Without("level").Decode(&s.rest)
}

func TestWithoutLeavesFieldsToOthers(t *testing.T) {
	var s split
	if err := strict.Decode("f.yaml", []byte("level: major\nmax: 3\n"), &s); err != nil || s.level != "major" || s.rest.Max != 3 {
		t.Errorf("got %+v, %v", s, err)
	}
	err := strict.Decode("f.yaml", []byte("level: major\nmax: x\nmix: 1\n"), &s)
	want := "f.yaml:2:6: found the text \"x\"; want a whole number such as 3\nf.yaml:3:1: unknown field \"mix\"; did you mean max?"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if n := (strict.Node{}).Without("level"); n.Kind() != strict.Null {
		t.Errorf("the zero node became %v", n.Kind())
	}
}
