package journal

import "iter"

// Stretches reads the history in pieces of most entries or less, so that it need not be unpacked whole: an Entry takes three
// times what the journal keeps of it. A piece has everything that its clients did, so one client alone may exceed most. All
// pieces are of the moment when the reading began; an empty journal is one empty piece. A reset ends the reading, or begins
// it anew where no piece was read yet.
func (j *Journal) Stretches(most int) iter.Seq[History] {
	return func(yield func(History) bool) {
		for !j.stretches(most, yield) {
		}
	}
}

// stretches reports false if the journal was reset before the first piece.
func (j *Journal) stretches(most int, yield func(History) bool) bool {
	j.mu.Lock()
	run, until, lost := j.run, j.seq, j.lost
	h := History{Lost: lost, Until: j.clock.Since(j.began), Began: j.began.Round(0).UTC()}
	j.mu.Unlock()
	for i, clients := range j.share(run, until, most) {
		h.Entries = make([]Entry, 0, clients.entries)
		if !j.each(run, 0, until, func(c *chunk) { h.Entries = c.of(clients.names, h.Entries) }) {
			return i > 0
		}
		h.Lost = max(h.Lost, min(until, j.Lost())) // more may have gone meanwhile
		if !yield(h) {
			break
		}
	}
	return true
}

// clients are those whose entries make one stretch.
type clients struct {
	names   map[string]bool
	entries int
}

// share deals the clients out, in the order in which they came, so that the pieces are about as large as each other.
func (j *Journal) share(run, until uint64, most int) []clients {
	counts, order, total := map[string]int{}, []string(nil), 0
	j.each(run, 0, until, func(c *chunk) {
		total += len(c.records)
		for i := range c.records {
			name := c.texts.get(c.records[i].client)
			if _, known := counts[string(name)]; !known {
				order = append(order, string(name))
			}
			counts[string(name)]++
		}
	})
	pieces := max(1, (total+most-1)/most)
	enough := (total + pieces - 1) / pieces
	all := []clients{{names: map[string]bool{}}}
	for _, name := range order {
		last := &all[len(all)-1]
		if last.entries >= max(1, enough) || last.entries > 0 && last.entries+counts[name] > most {
			all = append(all, clients{names: map[string]bool{}})
			last = &all[len(all)-1]
		}
		last.names[name] = true
		last.entries += counts[name]
	}
	return all
}

// of appends the entries of some clients to list.
func (c *chunk) of(names map[string]bool, list []Entry) []Entry {
	wanted := make([]bool, len(c.texts.ends)+1)
	wanted[0] = names[""]
	for n := range c.texts.ends {
		wanted[n+1] = names[string(c.texts.get(uint16(n+1)))]
	}
	return c.expandSome(list, func(r *record) bool { return wanted[r.client] })
}
