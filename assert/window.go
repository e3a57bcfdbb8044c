package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// arrivals sorts the attempts of all calls into groups, each in order of arrival.
func arrivals[K comparable](calls []Call, group func(*journal.Entry) K) [][]*journal.Entry {
	index := map[K]int{}
	var groups [][]*journal.Entry
	for i := range calls {
		var last K
		at := -1
		for k := range calls[i].Attempts {
			e := &calls[i].Attempts[k]
			if key := group(e); at < 0 || key != last {
				last = key
				var ok bool
				if at, ok = index[key]; !ok {
					at = len(groups)
					index[key] = at
					groups = append(groups, nil)
				}
			}
			groups[at] = append(groups[at], e)
		}
	}
	byArrival := func(a, b *journal.Entry) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq)) }
	for _, list := range groups {
		if !slices.IsSortedFunc(list, byArrival) {
			slices.SortFunc(list, byArrival)
		}
	}
	return groups
}

// crowd is the stretch of time in which most requests of a group arrived.
type crowd struct {
	list  []*journal.Entry // from the first of them on
	count int
}

// crowded finds the busiest stretch that is as long as per, less the tolerance of clocks.
func crowded(list []*journal.Entry, per time.Duration) crowd {
	var most crowd
	from, length := 0, per-Early(per)
	for i := range list {
		for from < i && list[i].At-list[from].At >= length {
			from++
		}
		if i-from+1 > most.count {
			most = crowd{list[from : i+1], i - from + 1}
		}
	}
	return most
}

// rateVerdict collects groups of requests that are too many in too short a time.
type rateVerdict struct {
	id     string
	limits []Rate

	groups, broken int
	excess         float64 // of the worst: requests by limit
	worst          crowd
	limit          Rate
	before         *journal.Entry // what the worst stretch repeats; nil: nothing
	fullest        float64        // of those that keep the limits
}

// add judges one group. Before is the request that the others repeat, nil if they stand for themselves.
func (v *rateVerdict) add(list []*journal.Entry, before *journal.Entry) {
	v.groups++
	broken := false
	for _, limit := range v.limits {
		w := crowded(list, limit.Per)
		excess := float64(w.count) / float64(limit.N)
		if w.count <= limit.N {
			v.fullest = max(v.fullest, excess)
			continue
		}
		broken = true
		if excess > v.excess {
			v.excess, v.worst, v.limit, v.before = excess, w, limit, before
		}
	}
	if broken {
		v.broken++
	}
}

// result gives the verdict; say describes the worst breach.
func (v *rateVerdict) result(calls []Call, missing string, say func(crowd, Rate) string) Result {
	r := Result{Clause: v.id}
	var longest Rate
	for _, limit := range v.limits {
		if limit.Per > longest.Per {
			longest = limit
		}
	}
	switch {
	case v.groups == 0:
		r.Detail = missing
	case v.broken > 0:
		r.Verdict = Fail
		r.Detail = say(v.worst, v.limit)
		if v.broken > 1 {
			r.Detail += fmt.Sprintf(" (%d clients or endpoints more broke it)", v.broken-1)
		}
		if v.before != nil {
			r.Witness = append(r.Witness, *v.before)
		}
		for _, e := range v.worst.list[:v.limit.N+1] {
			r.Witness = append(r.Witness, *e)
		}
	case !calls[0].Run.Ended && calls[0].Run.Until < longest.Per:
		r.Verdict = Inconclusive
		r.Detail = fmt.Sprintf("watched for %s only, too short for a limit on %s", span(calls[0].Run.Until), span(longest.Per))
	default:
		r.Verdict = Pass
		r.Detail = fmt.Sprintf("at most %.0f %% of the agreed rate", 100*v.fullest)
	}
	return r
}
