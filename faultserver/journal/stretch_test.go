package journal

import (
	"fmt"
	"slices"
	"testing"
)

func stretched(j *Journal, most int) (sizes []int, entries []Entry) {
	for h := range j.Stretches(most) {
		sizes = append(sizes, len(h.Entries))
		entries = append(entries, h.Entries...)
	}
	return sizes, entries
}

func TestStretchesHoldWholeClients(t *testing.T) {
	j := New(0)
	for i := range 3 * chunkEntries {
		exchange(j, Arrival{Client: fmt.Sprint("c", i%10), Method: "GET", Path: fmt.Sprint("/", i%7), Conn: uint64(i)})
	}
	all := j.Entries()
	for _, tt := range []struct {
		most int
		want int // pieces
	}{{len(all), 1}, {len(all) - 1, 2}, {len(all)/5 + 2, 5}, {len(all) / 10, 10}, {1, 10}} {
		sizes, entries := stretched(j, tt.most)
		if len(sizes) != tt.want {
			t.Errorf("%d at most: pieces of %v, want %d", tt.most, sizes, tt.want)
		}
		seen := map[string]int{}
		for piece, from := 0, 0; piece < len(sizes); piece++ {
			for _, e := range entries[from : from+sizes[piece]] {
				if before, ok := seen[e.Client]; ok && before != piece {
					t.Fatalf("%d at most: %s is in pieces %d and %d", tt.most, e.Client, before, piece)
				}
				seen[e.Client] = piece
			}
			from += sizes[piece]
		}
		slices.SortFunc(entries, func(a, b Entry) int { return int(a.Seq) - int(b.Seq) })
		if !slices.Equal(entries, all) {
			t.Errorf("%d at most: the pieces do not add up to the history", tt.most)
		}
	}
}

func TestStretchesOfLittle(t *testing.T) {
	j := New(4)
	if sizes, _ := stretched(j, 10); !slices.Equal(sizes, []int{0}) {
		t.Errorf("of nothing: %v, want one empty piece", sizes)
	}
	for i := range 6 {
		exchange(j, Arrival{Client: "", Conn: uint64(i)})
	}
	for h := range j.Stretches(1) {
		if len(h.Entries) != 4 || h.Lost != 2 || h.Entries[0].Seq != 3 {
			t.Errorf("%d entries from %d on, %d lost; want the last 4 of 6", len(h.Entries), h.Entries[0].Seq, h.Lost)
		}
	}
	pieces := 0
	for range j.Stretches(1) {
		pieces++
		j.Reset()
	}
	if pieces != 1 {
		t.Errorf("%d pieces, want none after a reset", pieces)
	}
}
