package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// arrival is one request of a group. The time stands next to the pointer, so that a million of them can be scanned
// without touching the entries.
type arrival struct {
	at    time.Duration
	entry *journal.Entry
}

// arrivals sorts the attempts of all calls into groups, each in order of arrival. Group gives the number of an entry's
// group, from 0 on; numbers are given out in order, and an entry's
// stays the same.
func arrivals(calls []Call, group func(*journal.Entry) int32) [][]arrival {
	var sizes []int32
	n := 0
	for i := range calls {
		for k := range calls[i].Attempts {
			g := group(&calls[i].Attempts[k])
			if int(g) == len(sizes) {
				sizes = append(sizes, 0)
			}
			sizes[g]++
			n++
		}
	}
	all := make([]arrival, n)
	groups := make([][]arrival, len(sizes))
	for g, size := range sizes {
		groups[g], all = all[:0:size], all[size:]
	}
	for i := range calls {
		for k := range calls[i].Attempts {
			e := &calls[i].Attempts[k]
			g := group(e)
			groups[g] = append(groups[g], arrival{e.At, e})
		}
	}
	byArrival := func(a, b arrival) int { return cmp.Compare(a.at, b.at) }
	for _, list := range groups {
		if !slices.IsSortedFunc(list, byArrival) {
			slices.SortStableFunc(list, byArrival)
		}
	}
	return groups
}

// numbering gives out numbers, the same for equal keys. Runs of one key are found without a lookup.
type numbering[K comparable] struct {
	numbers map[K]int32
	last    K
	number  int32
}

func (n *numbering[K]) of(key K) int32 {
	if n.numbers == nil {
		n.numbers = map[K]int32{}
	} else if key == n.last {
		return n.number
	}
	number, ok := n.numbers[key]
	if !ok {
		number = int32(len(n.numbers))
		n.numbers[key] = number
	}
	n.last, n.number = key, number
	return number
}

// endpoint is what rates are counted for.
type endpoint struct{ client, method, path string }

func endpointOf(e *journal.Entry) endpoint { return endpoint{e.Client, e.Method, e.Path} }

// crowded finds the busiest stretch that is as long as per, less a tolerance: the arrivals from its first on.
func crowded(list []arrival, per, early time.Duration) (most []arrival) {
	from, length := 0, per-early
	for i := range list {
		for from < i && list[i].at-list[from].at >= length {
			from++
		}
		if i-from+1 > len(most) {
			most = list[from : i+1]
		}
	}
	return most
}

// mostTogether is the largest number of exchanges that were under way at a time. They come in order of arrival; the ends are
// sorted in place.
func mostTogether(begins, ends []time.Duration) (most int) {
	for i := range ends {
		ends[i] = max(ends[i], begins[i]+1) // each is under way when it arrives
	}
	slices.Sort(ends)
	over := 0
	for i, now := range begins {
		for ends[over] <= now {
			over++
		}
		most = max(most, i+1-over)
	}
	return most
}

// rateVerdict collects groups of requests that are too many in too short a time.
type rateVerdict struct {
	id      string
	limits  []Rate
	rounded time.Duration // what arrivals are rounded to

	groups, broken int
	fullest        float64 // of the groups that keep the limits: requests by limit

	excess  float64 // of the worst: requests by limit
	count   int
	limit   Rate
	witness []journal.Entry
}

// add judges one group. Before is the request that the others repeat, nil if they stand for themselves.
func (v *rateVerdict) add(list []arrival, before *journal.Entry) {
	v.groups++
	broken := false
	for _, limit := range v.limits {
		most := crowded(list, limit.Per, Noise{Resolution: v.rounded}.Early(limit.Per))
		excess := float64(len(most)) / float64(limit.N)
		if len(most) <= limit.N {
			v.fullest = max(v.fullest, excess)
			continue
		}
		broken = true
		if excess > v.excess {
			v.excess, v.count, v.limit = excess, len(most), limit
			v.show(most[:limit.N+1], before)
		}
	}
	if broken {
		v.broken++
	}
}

func (v *rateVerdict) show(list []arrival, before *journal.Entry) {
	v.witness = v.witness[:0]
	if before != nil {
		v.witness = append(v.witness, *before)
	}
	for _, a := range list {
		v.witness = append(v.witness, *a.entry)
	}
}

// result gives the verdict; say describes the worst breach by its number of requests, the limit and one of them.
func (v *rateVerdict) result(calls []Call, missing string, say func(n int, limit Rate, e *journal.Entry) string) Result {
	r := Result{Clause: v.id}
	var longest time.Duration
	for _, limit := range v.limits {
		longest = max(longest, limit.Per)
	}
	switch {
	case v.groups == 0:
		r.Detail = missing
	case v.broken > 0:
		r.Verdict, r.Witness = Fail, v.witness
		r.Detail = say(v.count, v.limit, &v.witness[0])
		if v.broken > 1 {
			r.Detail += fmt.Sprintf(" (%d clients or endpoints more broke it)", v.broken-1)
		}
	case cutShort(calls, longest) != nil:
		r.Verdict = Inconclusive
		r.Detail = fmt.Sprintf("watched for %s only, too short for a limit on %s", span(cutShort(calls, longest).Run.Until), span(longest))
	default:
		r.Verdict = Pass
		r.Detail = fmt.Sprintf("at most %.0f %% of the agreed rate", 100*v.fullest)
	}
	return r
}

// cutShort finds a call that could have gone on within the time that was not watched.
func cutShort(calls []Call, per time.Duration) *Call {
	for i := range calls {
		if run := calls[i].Run; !run.Ended && run.Until < per {
			return &calls[i]
		}
	}
	return nil
}
