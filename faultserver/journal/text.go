package journal

import (
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"slices"
)

const (
	maxText  = 8 << 10 // bytes kept of one string, so that a line of JSON stays far below what the reader accepts
	maxTexts = 1<<16 - 1
)

var seed = maphash.MakeSeed()

// texts holds the strings of one chunk, each once, in one block of memory. Numbers take the place of string headers,
// and dropping the chunk frees all of them. Number 0 is the empty string.
type texts struct {
	bytes []byte
	ends  []uint32 // where string i+1 ends in bytes
	slots []uint16 // open-addressed hash table of numbers; 0: free
}

// add returns the number of s, and keeps a copy of it if it is new.
func (t *texts) add(s string) uint16 {
	if s == "" {
		return 0
	}
	s = clip(s, maxText)
	if 4*len(t.ends) >= 3*len(t.slots) {
		t.grow()
	}
	slot := t.find(s)
	if n := t.slots[slot]; n != 0 {
		return n
	}
	// Only a caller that names thousands of rules for one exchange gets here; the name is dropped, memory stays bounded.
	if len(t.ends) == maxTexts {
		return 0
	}
	t.bytes = append(t.bytes, s...)
	t.ends = append(t.ends, uint32(len(t.bytes)))
	t.slots[slot] = uint16(len(t.ends))
	return uint16(len(t.ends))
}

// again is add for a string that is likely to be the one with number last.
func (t *texts) again(s string, last uint16) uint16 {
	if string(t.get(last)) == s {
		return last
	}
	return t.add(s)
}

// find returns the slot that holds s, or the free one where it belongs.
func (t *texts) find(s string) uint64 {
	mask := uint64(len(t.slots) - 1)
	slot := maphash.String(seed, s) & mask
	for t.slots[slot] != 0 && string(t.get(t.slots[slot])) != s {
		slot = (slot + 1) & mask
	}
	return slot
}

func (t *texts) get(n uint16) []byte {
	if n == 0 {
		return nil
	}
	from := uint32(0)
	if n > 1 {
		from = t.ends[n-2]
	}
	return t.bytes[from:t.ends[n-1]]
}

// grow doubles the hash table; it is at most three quarters full.
func (t *texts) grow() {
	t.slots = make([]uint16, max(16, 2*len(t.slots)))
	for i := range t.ends {
		n := uint16(i + 1)
		t.slots[t.find(string(t.get(n)))] = n
	}
}

// seal gives back the spare room that growing left.
func (t *texts) seal() {
	t.bytes = slices.Clone(t.bytes)
	t.ends = slices.Clone(t.ends)
}

// expand returns all strings by number. They share one block of memory.
func (t *texts) expand() []string {
	all, list, from := string(t.bytes), make([]string, len(t.ends)+1), uint32(0)
	for i, end := range t.ends {
		list[i+1] = all[from:end]
		from = end
	}
	return list
}

// clip shortens a string that is longer than most bytes, and ends it with its hash so that different ones stay different.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return s[:most-24] + fmt.Sprintf("...(fnv %016x)", h.Sum64())[:24]
}
