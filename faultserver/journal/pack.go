package journal

import "encoding/binary"

// maxRare is how many bytes of each rare string are kept, so that a packed text stays below maxText.
const maxRare = 2 << 10

// packed is a text of facts: a mask of those that are there, then these in the order of the mask. Most exchanges have
// none, and attempts at one call mostly share what they have. pack and unpack must agree on numbers and order.
type packed []byte

// mark adds bit number n of the mask, and reports yes so that the fact can follow.
func (p packed) mark(n int, yes bool) bool {
	if yes {
		p[n/8] |= 1 << (n % 8)
	}
	return yes
}

func (p packed) has(n int) bool { return p[n/8]&(1<<(n%8)) != 0 }

func (p packed) text(n int, s string) packed {
	if p.mark(n, s != "") {
		s = clip(s, maxRare)
		p = append(binary.AppendUvarint(p, uint64(len(s))), s...)
	}
	return p
}

func (p packed) hash(n int, h uint64) packed {
	if p.mark(n, h != 0) {
		p = binary.BigEndian.AppendUint64(p, h)
	}
	return p
}

// unpacker reads what packed wrote.
type unpacker struct {
	mask packed
	rest []byte
}

func (u *unpacker) take(n int) []byte {
	part := u.rest[:n]
	u.rest = u.rest[n:]
	return part
}

func (u *unpacker) text(n int, into *string) {
	if u.mask.has(n) {
		length, used := binary.Uvarint(u.rest)
		u.take(used)
		*into = string(u.take(int(length)))
	}
}

func (u *unpacker) hash(n int, into *uint64) {
	if u.mask.has(n) {
		*into = binary.BigEndian.Uint64(u.take(8))
	}
}

// pack appends the facts to room; nothing if there are none.
func (s *Sent) pack(room []byte) []byte {
	if *s == (Sent{}) {
		return nil
	}
	p := packed(append(room, 0, 0)).text(0, s.CallBy).hash(1, s.Request).text(2, s.Range).hash(3, s.Stamp).text(4, s.Marks)
	if p.mark(5, s.Trace != Trace{}) {
		p = append(p, s.Trace[:]...)
	}
	if p.mark(6, s.Hop != 0) {
		p = binary.BigEndian.AppendUint32(p, uint32(s.Hop))
	}
	p.mark(7, s.Proxied)
	p.mark(8, s.EarlyData)
	return p
}

func (s *Sent) unpack(text []byte) {
	if len(text) == 0 {
		return
	}
	u := unpacker{text[:2], text[2:]}
	u.text(0, &s.CallBy)
	u.hash(1, &s.Request)
	u.text(2, &s.Range)
	u.hash(3, &s.Stamp)
	u.text(4, &s.Marks)
	if u.mask.has(5) {
		s.Trace = Trace(u.take(len(s.Trace)))
	}
	if u.mask.has(6) {
		s.Hop = int32(binary.BigEndian.Uint32(u.take(4)))
	}
	s.Proxied, s.EarlyData = u.mask.has(7), u.mask.has(8)
}

// ending is what few exchanges say once they are answered.
type ending struct {
	retryAfter string
	Told
	sends int32
}

func (e *ending) pack(room []byte) []byte {
	if *e == (ending{}) {
		return nil
	}
	p := packed(append(room, 0)).text(0, e.retryAfter).text(1, e.Location).text(2, string(e.Directive)).text(3, e.RetryAfterMS).text(4, e.Date)
	if p.mark(5, e.sends != 0) {
		p = binary.BigEndian.AppendUint32(p, uint32(e.sends))
	}
	return p
}

func (e *ending) unpack(text []byte) {
	if len(text) == 0 {
		return
	}
	u := unpacker{text[:1], text[1:]}
	u.text(0, &e.retryAfter)
	u.text(1, &e.Location)
	u.text(2, (*string)(&e.Directive))
	u.text(3, &e.RetryAfterMS)
	u.text(4, &e.Date)
	if u.mask.has(5) {
		e.sends = int32(binary.BigEndian.Uint32(u.take(4)))
	}
}
