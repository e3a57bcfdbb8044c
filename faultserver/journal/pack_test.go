package journal

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// Every fact comes back alone, without those packed before it, and in the company of all others.
func TestPackedFactsComeBack(t *testing.T) {
	for i := range reflect.TypeFor[Sent]().NumField() {
		var alone Sent
		most := allRare().Sent
		reflect.ValueOf(&alone).Elem().Field(i).Set(reflect.ValueOf(most).Field(i))
		reflect.ValueOf(&most).Elem().Field(i).SetZero()
		for _, want := range []Sent{alone, most} {
			var got Sent
			if got.unpack(want.pack(nil)); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		}
	}
	for i := range reflect.TypeFor[Told]().NumField() {
		var alone ending
		reflect.ValueOf(&alone.Told).Elem().Field(i).Set(reflect.ValueOf(allRare().Told).Field(i))
		comesBack(t, alone)
	}
	for _, e := range []ending{{retryAfter: "2"}, {sends: math.MaxInt32}, {"2", allRare().Told, 3}, {}} {
		comesBack(t, e)
	}
}

func comesBack(t *testing.T, want ending) {
	t.Helper()
	var got ending
	if got.unpack(want.pack(nil)); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestNothingRareTakesNoRoom(t *testing.T) {
	j := New(0)
	exchange(j, traffic(1))
	if e := j.Entries()[0]; e.Rare != nil || e.RetryAfter != "2" {
		t.Errorf("rare facts %+v, Retry-After %q", e.Rare, e.RetryAfter)
	}
	x := j.Arrive(Arrival{})
	x.Told(Told{Location: strings.Repeat("x", 2*maxRare)})
	x.Answered(302, "")
	if e := j.Entries()[1]; len(e.Rare.Location) != maxRare {
		t.Errorf("a target of %d bytes is kept", len(e.Rare.Location))
	}
}
