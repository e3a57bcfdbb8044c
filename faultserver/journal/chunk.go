package journal

import "time"

const (
	chunkEntries = 2048      // entries in one chunk
	chunkText    = 256 << 10 // bytes of text after which a chunk takes no more entries
)

// record is an Entry packed tight: no pointers, so that the garbage collector does not look into it either.
type record struct {
	at, took, gone int64 // nanoseconds
	auth, bodySum  uint64
	bodyLen        int64
	conn           uint64
	claim          int32

	client, call, method, path, query uint16 // numbers of texts
	key, proto, sent, told            uint16 // the last two are packed: what only few say
	rule, fault, handshake            uint16
	status, upstream                  uint16

	flags uint8
}

const (
	precondition = 1 << iota
	bodyWhole
	cut
	open
	early
	unprocessed
	secure
	closing
)

// chunk is a run of consecutive records with the strings they use. The journal's lock guards it.
type chunk struct {
	first   uint64 // Seq of the first record
	records []record
	texts   texts
	dropped bool // an exchange may still write to it, but the journal no longer counts it
}

func newChunk(first uint64, size int) *chunk {
	return &chunk{first: first, records: make([]record, 0, size)}
}

func (c *chunk) full() bool {
	return len(c.records) == cap(c.records) || len(c.texts.bytes) >= chunkText
}

func (c *chunk) last() uint64 { return c.first + uint64(len(c.records)) - 1 }

// arrive packs what is known at arrival into the next record. Most requests resemble the one before.
func (c *chunk) arrive(at time.Duration, a *Arrival) {
	var last record
	if n := len(c.records); n > 0 {
		last = c.records[n-1]
	}
	t := &c.texts
	r := record{
		at: int64(at), auth: a.Auth, conn: a.Conn, claim: a.Claim, flags: open,
		client: t.again(a.Client, last.client), call: t.again(a.Call, last.call), method: t.again(a.Method, last.method),
		path: t.again(a.Path, last.path), query: t.again(a.Query, last.query), key: t.again(a.Key, last.key),
		proto: t.again(a.Proto, last.proto),
	}
	if a.Sent != (Sent{}) {
		var room [128]byte
		r.sent = t.again(string(a.pack(room[:0])), last.sent)
	}
	if a.Precondition {
		r.flags |= precondition
	}
	if a.TLS {
		r.flags |= secure
	}
	if a.Closing {
		r.flags |= closing
	}
	c.records = append(c.records, r)
}

// copyTo copies the records from one Seq to another, both included, with all strings, over what room held: copying is all
// that is done under the lock, expanding is not.
func (c *chunk) copyTo(room *chunk, from, to uint64) {
	room.first = from
	room.records = append(room.records[:0], c.records[from-c.first:to-c.first+1]...)
	room.texts.bytes = append(room.texts.bytes[:0], c.texts.bytes...)
	room.texts.ends = append(room.texts.ends[:0], c.texts.ends...)
}

// expand appends the chunk's entries to list.
func (c *chunk) expand(list []Entry) []Entry {
	return c.expandSome(list, func(*record) bool { return true })
}

// expandSome appends those entries to list that are wanted.
func (c *chunk) expandSome(list []Entry, wanted func(r *record) bool) []Entry {
	all := c.texts.expand()
	text := func(n uint16) string { return all[n] }
	told := map[[2]uint16]rest{}
	for i := range c.records {
		r := &c.records[i]
		if !wanted(r) {
			continue
		}
		e := r.entry(c.first+uint64(i), text)
		if k := [2]uint16{r.sent, r.told}; k != [2]uint16{} {
			known, ok := told[k]
			if !ok {
				known = unpack(all[r.sent], all[r.told])
				told[k] = known
			}
			e.RetryAfter, e.Rare = known.retryAfter, known.rare
		}
		list = append(list, e)
	}
	return list
}

// rest is what an entry says beyond what each does.
type rest struct {
	retryAfter string
	rare       *Rare
}

func unpack(sent, told string) (r rest) {
	var more Rare
	more.unpack([]byte(sent))
	var end ending
	end.unpack([]byte(told))
	r.retryAfter, more.Told, more.Sends = end.retryAfter, end.Told, end.sends
	if more != (Rare{}) {
		r.rare = &more
	}
	return r
}

// at returns one entry. The journal's lock is held.
func (c *chunk) at(seq uint64) Entry {
	r, text := &c.records[seq-c.first], func(n uint16) string { return string(c.texts.get(n)) }
	e, more := r.entry(seq, text), unpack(text(r.sent), text(r.told))
	e.RetryAfter, e.Rare = more.retryAfter, more.rare
	return e
}

// entry expands the record, but for what is packed.
func (r *record) entry(seq uint64, text func(uint16) string) Entry {
	return Entry{
		Seq: seq, At: time.Duration(r.at), Took: time.Duration(r.took), Gone: time.Duration(r.gone),
		Client: text(r.client), Call: text(r.call), Claim: r.claim,
		Method: text(r.method), Path: text(r.path), Query: text(r.query),
		Key: text(r.key), Precondition: r.flags&precondition != 0, Closing: r.flags&closing != 0,
		Auth: r.auth, BodySum: r.bodySum, BodyLen: r.bodyLen, BodyWhole: r.flags&bodyWhole != 0, Early: r.flags&early != 0,
		Conn: r.conn, Proto: text(r.proto), TLS: r.flags&secure != 0, Handshake: text(r.handshake),
		Status: int(r.status), Cut: r.flags&cut != 0, Open: r.flags&open != 0,
		Rule: text(r.rule), Fault: text(r.fault), Unprocessed: r.flags&unprocessed != 0, Upstream: int(r.upstream),
	}
}
