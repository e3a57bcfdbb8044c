package strict

import (
	"errors"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	whole   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	numeric = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// plainKind is the kind of a scalar without quotes, by YAML's core schema cut down to one spelling each.
func plainKind(s string) Kind {
	switch {
	case s == "" || s == "null" || s == "~" || s == "Null" || s == "NULL":
		return Null
	case s == "true" || s == "false":
		return Bool
	case numeric.MatchString(s):
		return Number
	default:
		return Text
	}
}

func (d *decoder) bool(n Node, v reflect.Value) {
	if n.Kind() != Bool {
		n.Fail("found %s; want true or false", n.found())
		return
	}
	v.SetBool(n.t.text == "true")
}

func (d *decoder) string(n Node, v reflect.Value) {
	if n.Kind() == Text {
		v.SetString(n.t.text)
		return
	}
	if n.Kind() == Map || n.Kind() == Seq {
		n.Fail("found %s; want text", n.found())
		return
	}
	n.Fail("found %s; want text, so write %q with the quotes", n.found(), n.t.text)
}

func (d *decoder) int(n Node, v reflect.Value) {
	if n.Kind() != Number || !whole.MatchString(n.t.text) {
		n.Fail("found %s; want a whole number such as 3", n.found())
		return
	}
	bits := v.Type().Bits()
	if v.CanInt() {
		i, err := strconv.ParseInt(n.t.text, 10, bits)
		if err != nil {
			n.Fail("%s is out of range; want %d to %d", clip(n.t.text), int64(-1)<<(bits-1), int64(1)<<(bits-1)-1)
			return
		}
		v.SetInt(i)
		return
	}
	u, err := strconv.ParseUint(n.t.text, 10, bits)
	if err != nil {
		n.Fail("%s is out of range; want 0 to %d", clip(n.t.text), uint64(math.MaxUint64)>>(64-bits))
		return
	}
	v.SetUint(u)
}

func (d *decoder) float(n Node, v reflect.Value) {
	if n.Kind() != Number {
		n.Fail("found %s; want a number such as 0.5", n.found())
		return
	}
	f, err := strconv.ParseFloat(n.t.text, v.Type().Bits())
	if err != nil {
		n.Fail("%s is out of range for a number", clip(n.t.text))
		return
	}
	v.SetFloat(f)
}

func (d *decoder) duration(n Node, v reflect.Value) {
	switch n.Kind() {
	case Number:
		n.Fail("%s has no unit; write %s or %s", clip(n.t.text), clip(n.t.text)+"s", clip(n.t.text)+"ms")
		return
	case Text:
	default:
		n.Fail("found %s; want a duration such as 1.5s or 2m", n.found())
		return
	}
	dur, err := ParseDuration(n.t.text)
	if err != nil {
		n.Fail("%v", err)
		return
	}
	v.SetInt(int64(dur))
}

// FormatDuration writes a duration as people do, without the zero units that time.Duration prints: 1m, not 1m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// ParseDuration reads "1.5s", "2m" or "1h30m" (units ns us ms s m h); a bare number is an error, 0 too.
func ParseDuration(s string) (time.Duration, error) {
	dur, err := time.ParseDuration(s)
	switch {
	case numeric.MatchString(s):
		return 0, errors.New(strconv.Quote(clip(s)) + " has no unit; write " + clip(s) + "s or " + clip(s) + "ms")
	case err == nil:
		return dur, nil
	case strings.ContainsAny(s, "dw") && !strings.ContainsAny(s, " "):
		return 0, errors.New(strconv.Quote(clip(s)) + " is not a duration such as 1.5s or 2m; write days as hours, 3 days as 72h")
	default:
		return 0, errors.New(strconv.Quote(clip(s)) + " is not a duration such as 1.5s or 2m (units ms s m h, at most about 290 years)")
	}
}
