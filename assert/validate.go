package assert

import (
	"strings"
	"time"
	"unicode"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// notNegative fails at the field when it is below zero.
func notNegative(n strict.Node, field string, d time.Duration) {
	if d < 0 {
		n.At(field).Fail("%s: %v is negative", field, d)
	}
}

// unlimited is how files say that there is no bound, where a profile has one.
const unlimited = "unlimited"

// UnmarshalNode reads the bounds over what is there already; each may be the word unlimited.
func (a *Attempts) UnmarshalNode(n strict.Node) {
	type plain Attempts
	lift(lift(n, "max", &a.Max), "within", &a.Within).Decode((*plain)(a))
}

// UnmarshalNode reads the bounds over what is there already; max may be the word unlimited.
func (r *RetryAfter) UnmarshalNode(n strict.Node) {
	type plain RetryAfter
	lift(n, "max", &r.Max).Decode((*plain)(r))
}

// lift takes a bound away where the file says unlimited, and returns what is left to read.
func lift[T int | time.Duration](n strict.Node, name string, bound *T) strict.Node {
	if f, ok := n.Field(name); ok && f.String() == unlimited {
		*bound = 0
		return n.Without(name)
	}
	return n
}

// Validate finds bounds that no client can keep.
func (a *Attempts) Validate(n strict.Node) {
	if f, ok := n.Field("max"); ok && a.Max < 1 && f.String() != unlimited {
		f.Fail("max: %d attempts is too few; the first one counts, so 1 means no retry", a.Max)
	}
	atMost(n, "max", a.Max, most.attempts, "no run counts so far")
	notNegative(n, "within", a.Within)
	atMost(n, "within", a.Within, most.within, "no call takes that long")
}

// Validate finds waits that make no sense.
func (d *Delays) Validate(n strict.Node) {
	notNegative(n, "initial", d.Initial)
	notNegative(n, "max", d.Max)
	atMost(n, "initial", d.Initial, most.wait, "no client waits that long")
	atMost(n, "max", d.Max, most.wait, "no client waits that long")
	atMost(n, "multiplier", d.Multiplier, most.factor, "the second wait would be the last")
	atMost(n, "growth", d.Growth, most.factor, "the second wait would be the last")
	if f, ok := n.Field("multiplier"); ok && d.Multiplier < 1 {
		f.Fail("multiplier: %v makes waits shrink; want 1 or more", d.Multiplier)
	}
	if f, ok := n.Field("growth"); ok && d.Growth < 1 {
		f.Fail("growth: %v makes waits shrink; want 1 or more", d.Growth)
	}
	d.override(n)
}

// mostScheduled bounds how long a schedule may be.
const mostScheduled = 100

// override lets what a file says about the waits stand in the place of what its profile says: a multiplier or a schedule
// says what growth to expect, and waits are either computed or listed.
func (d *Delays) override(n strict.Node) {
	has := func(name string) bool { _, ok := n.Field(name); return ok }
	growth := has("growth")
	if !growth && (has("multiplier") || has("schedule")) {
		d.Growth = 0
	}
	if !has("schedule") {
		if has("initial") || has("multiplier") {
			d.Schedule = nil
		}
		return
	}
	place := n.At("schedule")
	for _, name := range []string{"initial", "multiplier"} {
		if f, ok := n.Field(name); ok {
			f.Fail("%s: the schedule in line %d says every wait; keep one of them", name, place.Line())
		}
	}
	d.Initial, d.Multiplier = 0, 0
	if !has("max") {
		d.Max = 0
	}
	if k := len(d.Schedule); k == 0 || k > mostScheduled {
		place.Fail("schedule: %d waits; want 1 to %d, as in [5s, 5m, 30m, 2h]", k, mostScheduled)
	}
	for k, wait := range place.Seq() {
		if k < len(d.Schedule) && (d.Schedule[k] <= 0 || d.Schedule[k] > most.wait) {
			wait.Fail("schedule: %s is no wait; want more than 0s and %s at most", wait.String(), plain(most.wait))
		}
	}
}

// Validate finds bounds that make no sense.
func (r *RetryAfter) Validate(n strict.Node) {
	notNegative(n, "max", r.Max)
	atMost(n, "max", r.Max, most.wait, "no client waits that long")
}

// Validate finds routes and headers that no request can have.
func (i *Idempotency) Validate(n strict.Node) {
	if f, ok := n.Field("key-header"); ok && !isToken(i.KeyHeader) {
		f.Fail("key-header: %q is no header name", i.KeyHeader)
	}
	routes := n.At("safe-routes").Seq()
	for k, route := range i.SafeRoutes {
		method, path, ok := strings.Cut(route, " ")
		if !ok {
			method, path = "", route
		}
		sound := strings.HasPrefix(path, "/") && isPath(path) && (!ok || isToken(method))
		if k < len(routes) && !sound {
			routes[k].Fail("safe-routes: %q is no route; want a path or a method and a path, as in POST /search or POST /search/*", route)
		}
	}
}

// isPath reports whether a path as requests carry it can look like that. Curly brackets are escaped there, so a template
// such as /orders/{id} would match nothing.
func isPath(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("{}?#", r) })
}

// isToken reports whether s can be a header name or a method (RFC 9110 5.6.2).
func isToken(s string) bool {
	for _, r := range s {
		if r > '~' || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return false
		}
	}
	return s != ""
}

// Validate finds limits that no client can keep.
func (l *Limits) Validate(n strict.Node) {
	if f, ok := n.Field("amplification"); ok && l.Amplification < 1 {
		f.Fail("amplification: %v is too small; a call needs one request at least", l.Amplification)
	}
	atMost(n, "amplification", l.Amplification, most.amplification, "no run counts so far")
}

// Rates are limits that hold at the same time. One may be written without brackets.
type Rates []Rate

// UnmarshalNode reads 10/1m or [100/1m, 20/10s].
func (r *Rates) UnmarshalNode(n strict.Node) {
	if n.Kind() == strict.Seq {
		n.Decode((*[]Rate)(r))
		return
	}
	*r = make(Rates, 1)
	n.Decode(&(*r)[0])
}

// UnmarshalNode reads a form by name, {proportional: 0.5} or {additive: 100ms}.
func (j *Jitter) UnmarshalNode(n strict.Node) {
	if n.Kind() != strict.Map {
		var form Form
		n.Decode(&form)
		switch form {
		case JitterProportional:
			n.Fail("jitter: say how much, as in {proportional: 0.5}")
		case JitterAdditive:
			n.Fail("jitter: say how much, as in {additive: 100ms}")
		}
		*j = Jitter{Form: form}
		return
	}
	var sized struct {
		Proportional float64
		Additive     time.Duration
	}
	n.Decode(&sized)
	switch strict.ExactlyOne(n, "proportional", "additive") {
	case "proportional":
		strict.Between(n, "proportional", sized.Proportional, 0, 1)
		*j = Jitter{Form: JitterProportional, Proportion: sized.Proportional}
	case "additive":
		strict.Above(n, "additive", sized.Additive, 0)
		atMost(n, "additive", sized.Additive, most.wait, "no client waits that long")
		*j = Jitter{Form: JitterAdditive, Add: sized.Additive}
	}
}
