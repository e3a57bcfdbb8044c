package assert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// row is one line of a contract's responses section: what changes for which statuses or network failures.
type row struct {
	network  bool // from and to are classes of network failure
	from, to int
	place    strict.Node
	retry    *Behaviour
	honour   *bool
}

func (r row) width() int { return r.to - r.from }

func (r row) overlaps(o row) bool { return r.network == o.network && r.from <= o.to && o.from <= r.to }

func (r row) change(old Response) Response {
	if r.retry != nil {
		old.Retry = *r.retry
	}
	if r.honour != nil {
		old.Honour = *r.honour
	}
	return old
}

// UnmarshalNode reads a responses section over what the table holds already. Where rows overlap the narrower one wins.
func (t *Responses) UnmarshalNode(n strict.Node) {
	if n.Kind() != strict.Map {
		n.Fail("responses: want a mapping from statuses to behaviours, as in 500, 502-504: backoff")
		return
	}
	var rows []row
	for _, pair := range n.Map() {
		rows = append(rows, readRows(pair)...)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return b.width() - a.width() })
	for i, r := range rows {
		for _, other := range rows[:i] {
			if r.width() == other.width() && r.overlaps(other) {
				r.place.Fail("%s overlaps %s in line %d, which is as wide; one of them has to be narrower to win",
					r.name(), other.name(), other.place.Line())
			}
		}
		t.apply(r)
	}
}

func (t *Responses) apply(r row) {
	if r.network {
		for c := r.from; c <= r.to; c++ {
			t.network[c] = r.change(t.network[c])
		}
		return
	}
	for s := r.from; s <= r.to; s++ {
		t.status[s-minStatus] = r.change(t.status[s-minStatus])
	}
}

func (r row) name() string {
	switch {
	case r.network:
		return networkLabel(NetworkClass(r.from), NetworkClass(r.to))
	case r.from == r.to:
		return strconv.Itoa(r.from)
	default:
		return fmt.Sprintf("%d-%d", r.from, r.to)
	}
}

// readRows reads one entry of the section. Its key lists statuses, ranges, classes and network failures: 500, 502-504, 4xx,
// network, timeout.
func readRows(pair strict.Pair) []row {
	var what row
	what.place = pair.Key
	what.read(pair.Value)
	var rows []row
	for _, word := range strings.Split(pair.Key.String(), ",") {
		r := what
		if err := r.span(strings.TrimSpace(word)); err != nil {
			pair.Key.Fail("%v", err)
			continue
		}
		if r.network && what.needsAnswer() {
			pair.Value.Fail("%s: a network failure carries no Retry-After; want never, once or backoff", r.name())
		}
		rows = append(rows, r)
	}
	return rows
}

// needsAnswer reports whether the row speaks of something that only an answer can carry.
func (r row) needsAnswer() bool {
	return r.honour != nil || r.retry != nil && (*r.retry == WithRetryAfter || *r.retry == WithRetryAfterOrKey || *r.retry == OnceAfterRefresh)
}

// read reads what is to be done: a behaviour, or {retry: behaviour, retry-after: honour}.
func (r *row) read(n strict.Node) {
	if n.Kind() != strict.Map {
		r.retry = new(Behaviour)
		n.Decode(r.retry)
		return
	}
	var long struct {
		Retry      *Behaviour
		RetryAfter *honouring
	}
	n.Decode(&long)
	r.retry, r.honour = long.Retry, (*bool)(long.RetryAfter)
}

// honouring is how files say whether Retry-After has to be kept.
type honouring bool

// UnmarshalText reads honour or ignore.
func (h *honouring) UnmarshalText(text []byte) error {
	switch string(text) {
	case "honour":
		*h = true
	case "ignore":
		*h = false
	default:
		return fmt.Errorf("unknown choice %q%s", text, registry.Suggest(string(text), []string{"honour", "ignore"}))
	}
	return nil
}

// span reads one word of a key.
func (r *row) span(word string) error {
	if from, to, ok := networkWord(word); ok {
		r.network, r.from, r.to = true, int(from), int(to)
		return nil
	}
	var err error
	r.from, r.to, err = statusRange(word)
	return err
}

// statusRange reads one word that is not about the network.
func statusRange(word string) (from, to int, err error) {
	if class, ok := strings.CutSuffix(word, "xx"); ok {
		word = class + "00-" + class + "99"
	}
	low, high, isRange := strings.Cut(word, "-")
	if !isRange {
		high = low
	}
	from, err1 := strconv.Atoi(strings.TrimSpace(low))
	to, err2 := strconv.Atoi(strings.TrimSpace(high))
	switch {
	case err1 != nil || err2 != nil:
		return 0, 0, fmt.Errorf("%q is no status; want a status (503), a range (500-504), a class (5xx), or one of %s%s",
			word, strings.Join(networkKeys(), ", "), registry.Suggest(word, networkKeys()))
	case from > to:
		return 0, 0, fmt.Errorf("%q runs backwards; write %d-%d", word, to, from)
	case from < minStatus || to > maxStatus:
		return 0, 0, fmt.Errorf("%q reaches outside %d-%d; other statuses do not exist", word, minStatus, maxStatus)
	}
	return from, to, nil
}
