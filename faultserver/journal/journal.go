package journal

import (
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// DefaultLimit is how many entries a journal keeps unless told otherwise: about 150 MB.
const DefaultLimit = 1_000_000

// textPerEntry bounds the memory for strings, in bytes an entry of the limit: traffic of odd length loses its oldest
// entries earlier instead of growing without bound.
const textPerEntry = 256

// Journal records exchanges as they arrive and end, in bounded memory: beyond the limit the oldest entries go and are
// counted as lost. Reset empties it for another run. It is safe for concurrent use.
type Journal struct {
	clock clock.Clock
	limit uint64

	// One lock for everything: the order of arrival and its time must agree.
	mu      sync.Mutex
	run     uint64 // how often it was reset
	began   time.Time
	chunks  []*chunk      // oldest first
	seq     uint64        // of the latest arrival
	lost    uint64        // entries up to this Seq are gone
	text    int           // bytes of strings in chunks
	open    int           // exchanges that were not closed yet
	changed chan struct{} // nil while nobody waits
}

// Arrival is what is known of a request once its head is complete. The fields mean what they mean in Entry.
type Arrival struct {
	Client, Call        string
	Claim               int32
	Method, Path, Query string
	Key                 string
	Precondition        bool
	Closing             bool
	Auth                uint64
	Conn                uint64
	Proto               string
	TLS                 bool
	Sent
}

// New starts a journal that keeps the latest limit entries; 0 or less means DefaultLimit. Its run begins now.
func New(limit int) *Journal { return On(clock.Clock{}, limit) }

// On is New with a clock that all times are told by. A server tells the time by its journal's clock.
func On(c clock.Clock, limit int) *Journal {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Journal{clock: c, began: c.Now(), limit: uint64(limit)}
}

// Clock is what the journal tells the time by.
func (j *Journal) Clock() clock.Clock { return j.clock }

// Arrive writes down a request, before its body is read and before anything is done about it. The caller must Close
// the exchange.
func (j *Journal) Arrive(a Arrival) *Exchange {
	x := &Exchange{journal: j}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	x.run, x.seq, x.at = j.run, j.seq, j.clock.Since(j.began)
	c := j.current()
	before := len(c.texts.bytes)
	c.arrive(x.at, &a)
	j.text += len(c.texts.bytes) - before
	x.chunk, x.index = c, len(c.records)-1
	j.open++
	j.trim()
	j.signal()
	return x
}

// current returns the chunk that takes the next record.
func (j *Journal) current() *chunk {
	if n := len(j.chunks); n > 0 {
		c := j.chunks[n-1]
		if !c.full() {
			return c
		}
		c.texts.seal()
	}
	c := newChunk(j.seq, int(min(chunkEntries, j.limit)))
	j.chunks = append(j.chunks, c)
	return c
}

// trim forgets the oldest entries beyond the limits.
func (j *Journal) trim() {
	if j.seq-j.lost > j.limit {
		j.lost = j.seq - j.limit
	}
	if room := max(4*chunkText, textPerEntry*int(j.limit)); j.text > room && len(j.chunks) > 1 {
		j.lost = max(j.lost, j.chunks[0].last())
	}
	for j.chunks[0].last() <= j.lost {
		j.text -= len(j.chunks[0].texts.bytes)
		j.chunks[0].dropped = true
		j.chunks[0] = nil // the slice's array must not hold on to it
		j.chunks = j.chunks[1:]
	}
}

func (j *Journal) signal() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// Reset starts a new run: nothing has arrived, nothing is lost, the clock begins anew. What is still written about
// exchanges of the run before goes nowhere.
func (j *Journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.chunks {
		c.dropped = true
	}
	j.run++
	j.began = j.clock.Now()
	j.chunks, j.seq, j.lost, j.text, j.open = nil, 0, 0, 0, 0
	j.signal()
}

// Changed returns a channel that is closed at the next arrival, fault, answer, end or reset. Get it before looking at
// the journal, so that nothing slips in between.
func (j *Journal) Changed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.changed
}

// Entries returns what is kept, in order of arrival; exchanges still going on have Open set.
func (j *Journal) Entries() []Entry { return j.After(0) }

// After returns the kept entries with a Seq above seq, for readers that follow a journal as it grows.
func (j *Journal) After(seq uint64) []Entry {
	for {
		if s, ok := j.read(seq); ok {
			return s.entries
		}
	}
}

// History returns the entries with how far they can be trusted.
func (j *Journal) History() History {
	for {
		if s, ok := j.read(0); ok {
			return History{
				Entries: s.entries,
				Lost:    s.until - uint64(len(s.entries)),
				Until:   j.clock.Since(s.began),
				Began:   s.began.Round(0).UTC(), // Round drops the monotonic reading, which no file can carry
			}
		}
	}
}

// stretch is what was read of one run.
type stretch struct {
	run     uint64
	began   time.Time
	until   uint64 // Seq of the latest arrival when the reading began
	entries []Entry
}

// read returns the kept entries after seq; false if the journal was reset meanwhile. It holds the lock for one chunk at a
// time: reading a million entries must not hold up arrivals and bend their times.
func (j *Journal) read(seq uint64) (s stretch, ok bool) {
	j.mu.Lock()
	s = stretch{run: j.run, began: j.began, until: j.seq}
	s.entries = make([]Entry, 0, s.until-min(s.until, max(seq, j.lost)))
	j.mu.Unlock()
	ok = j.each(s.run, seq, s.until, func(c *chunk) { s.entries = c.expand(s.entries) })
	return s, ok
}

// each shows the kept entries after one Seq, up to another, as copies of chunks, each good until the next; false if the run
// is over.
func (j *Journal) each(run, seq, until uint64, look func(c *chunk)) bool {
	var room chunk
	for seq < until {
		if !j.part(run, seq, until, &room) {
			return false
		}
		look(&room)
		seq = room.last()
	}
	return true
}

// part copies the first kept entries after seq, up to until, as far as they stand in one chunk. If none of them is kept
// any more the copy is empty and begins behind until; false if the run is over.
func (j *Journal) part(run, seq, until uint64, room *chunk) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run != run {
		return false
	}
	seq = max(seq, j.lost)
	for _, c := range j.chunks {
		if seq < until && c.last() > seq {
			c.copyTo(room, seq+1, min(until, c.last()))
			return true
		}
	}
	room.first, room.records = until+1, room.records[:0]
	return true
}

// Len returns how many entries are kept.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return int(j.seq - j.lost)
}

// Lost returns how many entries were dropped to stay within the limit.
func (j *Journal) Lost() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

// Pending returns how many exchanges are still going on.
func (j *Journal) Pending() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.open
}

// Elapsed returns the time since the run began.
func (j *Journal) Elapsed() time.Duration { return j.clock.Since(j.Began()) }

// Began returns when the run began; every time in the journal counts from there.
func (j *Journal) Began() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.began
}
