package journal

import (
	"sort"
	"time"
)

// Cursor reads a journal as it grows, at the cost of what is new. It is for one reader at a time.
type Cursor struct {
	journal *Journal
	run     uint64
	began   time.Time
	seen    uint64   // everything up to here was returned
	open    []uint64 // of that, what was still going on
}

// Cursor starts to read behind seq; 0 reads everything that is kept.
func (j *Journal) Cursor(seq uint64) *Cursor {
	j.mu.Lock()
	defer j.mu.Unlock()
	return &Cursor{journal: j, run: j.run, began: j.began, seen: seq}
}

// Began returns when the run began that the last entries are of.
func (c *Cursor) Began() time.Time { return c.began }

// Elapsed returns the time since then.
func (c *Cursor) Elapsed() time.Duration { return c.journal.clock.Since(c.began) }

// Next returns, in order of arrival, the entries that are new or were open when it was last called: each one comes until
// it has come closed. anew says that the journal was reset since; the entries are those of the new run.
func (c *Cursor) Next() (entries []Entry, anew bool) {
	for {
		entries, ok := c.again()
		if ok {
			var fresh stretch
			if fresh, ok = c.journal.read(c.seen); ok && fresh.run == c.run {
				entries = append(entries, fresh.entries...)
				c.note(entries, fresh.until)
				return entries, anew
			}
		}
		next := c.journal.Cursor(0)
		*c, anew = *next, true
	}
}

// again reads those that were open. What the journal dropped meanwhile does not come again; false if the run is over.
func (c *Cursor) again() (entries []Entry, ok bool) {
	j := c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run != c.run {
		return nil, false
	}
	for _, seq := range c.open {
		i := sort.Search(len(j.chunks), func(i int) bool { return j.chunks[i].last() >= seq })
		if i < len(j.chunks) && seq > j.lost {
			entries = append(entries, j.chunks[i].at(seq))
		}
	}
	return entries, true
}

func (c *Cursor) note(entries []Entry, until uint64) {
	c.seen = max(c.seen, until)
	c.open = c.open[:0]
	for i := range entries {
		if entries[i].Open {
			c.open = append(c.open, entries[i].Seq)
		}
	}
}
