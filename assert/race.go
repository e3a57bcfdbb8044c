package assert

// Where a contract agrees on copies, equal requests that are under way together are copies of one, though nothing names their
// call. A client that makes two such calls at once is not wronged by that: copies are charged less than calls.

// race is a request that copies may join.
type race struct {
	chain, first int32
	copies       int
}

// raced finds the call of which entry i is a copy.
func (g *grouper) raced(k matchKey, i int32) (int32, bool) {
	r := g.races[k]
	if r == nil || r.copies >= g.key.Hedges {
		return 0, false
	}
	first, e := &g.entries[r.first], &g.entries[i]
	if !first.Open && endOf(first) <= e.At+overlap {
		return 0, false
	}
	r.copies++
	return r.chain, true
}

// race lets copies join entry i, of chain c, unless it is one itself.
func (g *grouper) race(k matchKey, c, i int32) {
	if g.key.Hedges == 0 {
		return
	}
	if r := g.races[k]; r != nil && r.chain == c && (g.entries[r.first].Open || endOf(&g.entries[r.first]) > g.entries[i].At+overlap) {
		return
	}
	if g.races == nil {
		g.races = map[matchKey]*race{}
	}
	g.races[k] = &race{chain: c, first: i}
}
