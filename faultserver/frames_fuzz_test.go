package faultserver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
)

// pieces is a connection from which a text comes in pieces of so many bytes, and which keeps what is written.
type pieces struct {
	net.Conn
	rest []byte
	size int
	out  bytes.Buffer
}

func (c *pieces) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *pieces) Write(p []byte) (int, error) { return c.out.Write(p) }

// through passes a text in, which comes in pieces and is read in others. The field's name is left out of what comes out.
func through(t *testing.T, text []byte, come, read int) []byte {
	f, field := faultserver.Frames(&pieces{rest: text, size: come})
	var all []byte
	for p := make([]byte, read); ; {
		n, err := f.Read(p)
		all = append(all, p[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == 0 || len(all) > 60*(len(text)+1) {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	if held := f.Held(); held > 5<<10+len(text) {
		t.Fatalf("it holds %d", held)
	}
	return bytes.ReplaceAll(all, []byte(field), []byte("x"))
}

// written passes a text out in pieces, where stream 1 is to be reset with the code 7.
func written(t *testing.T, text []byte, size int) []byte {
	c := &pieces{}
	f, _ := faultserver.Frames(c)
	f.Mark(1, 7)
	for rest := bytes.Clone(text); len(rest) > 0; {
		p := rest[:min(size, len(rest))]
		before := bytes.Clone(p)
		if n, err := f.Write(p); n != len(p) || err != nil || !bytes.Equal(p, before) {
			t.Fatalf("%d of %d bytes, %v; changed: %v", n, len(p), err, !bytes.Equal(p, before))
		}
		rest = rest[len(p):]
	}
	return c.out.Bytes()
}

func frame(kind, flags byte, id uint32, payload string) string {
	head := binary.BigEndian.AppendUint32([]byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}, id)
	return string(head) + payload
}

// reference says what a text in whole frames has to become, looked at all at once. The field is named x.
func reference(text []byte) (out []byte) {
	newest, block := uint32(0), uint32(0)
	for len(text) >= 9 {
		length := int(text[0])<<16 | int(text[1])<<8 | int(text[2])
		kind, flags, id := text[3], text[4], binary.BigEndian.Uint32(text[5:])&(1<<31-1)
		if len(text) < 9+length {
			break
		}
		payload := text[9 : 9+length]
		text = text[9+length:]
		mine := kind == 1 && id%2 == 1 && id > newest || kind == 9 && block != 0 && id == block
		if kind == 1 && id%2 == 1 {
			newest = max(newest, id)
		}
		block = 0
		if mine && flags&4 == 0 {
			block = id
		}
		if !mine || flags&4 == 0 {
			out = append(out, frame(kind, flags, id, string(payload))...)
			continue
		}
		digits := strconv.Itoa(int(id))
		put := "\x10\x01x" + string(rune(len(digits))) + digits
		if kind == 1 && flags&8 != 0 {
			out = append(out, frame(kind, flags&^4, id, string(payload))...)
			out = append(out, frame(9, 4, id, put)...)
		} else {
			out = append(out, frame(kind, flags, id, string(payload)+put)...)
		}
	}
	return out
}

// wholeFrames cuts a text behind its last whole frame, clears the bit of stream numbers that means nothing, and leaves out
// what the reference does not tell.
func wholeFrames(text []byte) []byte {
	text = bytes.Clone(text)
	at := 0
	for len(text) >= at+9 {
		length := int(text[at])<<16 | int(text[at+1])<<8 | int(text[at+2])
		if len(text) < at+9+length {
			break
		}
		text[at+5] &^= 1 << 7
		at += 9 + length
	}
	return text[:at]
}

// Whatever a peer sends, and however it is cut, it comes out the same: requests with their stream, all else unchanged.
func FuzzFrames(f *testing.F) {
	get := frame(1, 5, 1, "\x82\x84\x86\x41\x01t")
	f.Add([]byte(frame(4, 0, 0, "")+get), uint16(3))
	f.Add([]byte(get+frame(1, 1, 3, "\x82")+frame(9, 4, 3, "\x84")+frame(0, 1, 3, strings.Repeat("x", 5000))), uint16(1))
	f.Add([]byte(frame(1, 0xd, 5, "\x03\x82\x84\x86\x00\x00\x00")+frame(3, 0, 5, "\x00\x00\x00\x08")+get), uint16(7))
	f.Add([]byte(frame(1, 4, 7, "")+frame(3, 0, 1, "\x00\x00\x00\x02")+frame(7, 0, 0, "12345678debug")), uint16(2))
	f.Add([]byte("\xff\xff\xff\x01\x04\x00\x00\x00\x01 too short"), uint16(4))
	f.Fuzz(func(t *testing.T, text []byte, size uint16) {
		cut := int(size)%5000 + 1
		whole := through(t, text, 1<<20, 1<<20)
		for _, by := range [][2]int{{1, 1}, {cut, 4096}, {1 << 20, cut}, {cut, 1}} {
			if got := through(t, text, by[0], by[1]); !bytes.Equal(got, whole) {
				t.Fatalf("cut by %v: %q\nwhole: %q", by, got, whole)
			}
		}
		sent := written(t, text, 1<<20)
		for _, by := range []int{1, cut} {
			if got := written(t, text, by); !bytes.Equal(got, sent) && len(wholeFrames(text)) == len(text) {
				t.Fatalf("cut by %d: %q\nwhole: %q", by, got, sent)
			}
		}
	})
}

// What comes out is what a plain look at whole frames says.
func TestFramesAgainstReference(t *testing.T) {
	_, name := faultserver.Frames(&pieces{})
	get := frame(1, 5, 1, "\x82\x84\x86\x41\x01t")
	for _, text := range []string{
		frame(4, 0, 0, "") + get + frame(1, 5, 1, "\x82") + frame(1, 5, 2, "\x82"),
		frame(1, 1, 3, "\x82") + frame(9, 0, 3, "\x84") + frame(9, 4, 3, "\x86") + frame(1, 4, 1, "trailers?"),
		frame(1, 1, 3, "\x82") + frame(0, 0, 3, "not a continuation") + frame(9, 4, 3, "\x86"),
		frame(1, 0xc, 9, "\x02\x82\x84\x00\x00") + frame(1, 4, 11, "") + frame(9, 4, 11, "late"),
	} {
		want := reference([]byte(text))
		got := through(t, []byte(text), 3, 100)
		if plain := shorten(got, len(name)); !bytes.Equal(plain, want) {
			t.Errorf("got  %q\nwant %q", plain, want)
		}
	}
}

// shorten gives frames with the field the lengths that they would have if its name were x.
func shorten(text []byte, name int) (out []byte) {
	for len(text) >= 9 {
		length := int(text[0])<<16 | int(text[1])<<8 | int(text[2])
		at := bytes.Index(text, []byte{0x10, byte(name), 'x'})
		if at >= 0 && at < 9+length {
			length -= name - 1
			text[at+1] = 1
		}
		out = append(out, frame(text[3], text[4], binary.BigEndian.Uint32(text[5:]), string(text[9:9+length]))...)
		text = text[9+length:]
	}
	return out
}

// Of what goes out, the resets of marked streams change their code and nothing else does.
func TestMarkedResets(t *testing.T) {
	text := frame(4, 0, 0, "") + frame(3, 0, 3, "\x00\x00\x00\x02") + frame(3, 0, 1, "\x00\x00\x00\x02") + frame(0, 1, 5, "data")
	want := frame(4, 0, 0, "") + frame(3, 0, 3, "\x00\x00\x00\x02") + frame(3, 0, 1, "\x00\x00\x00\x07") + frame(0, 1, 5, "data")
	for size := 1; size <= len(text); size++ {
		if got := written(t, []byte(text), size); string(got) != want {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

// endless is a connection over which a text comes again and again, and which takes everything.
type endless struct {
	net.Conn
	text []byte
	at   int
}

func (c *endless) Read(p []byte) (int, error) {
	n := copy(p, c.text[c.at:])
	c.at = (c.at + n) % len(c.text)
	return n, nil
}

func (c *endless) Write(p []byte) (int, error) { return len(p), nil }

// What passes as it came costs no memory, in either direction.
func TestFramesCostNoMemory(t *testing.T) {
	text := []byte(frame(4, 0, 0, "") + frame(1, 4, 1, "\x82\x84\x86\x41\x01t") + frame(0, 0, 1, strings.Repeat("x", 16<<10)) + frame(3, 0, 1, "1234"))
	f, _ := faultserver.Frames(&endless{text: text})
	p := make([]byte, 4<<10)
	if n := testing.AllocsPerRun(1000, func() { _, _ = f.Read(p) }); n != 0 {
		t.Errorf("%v allocations a read", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = f.Write(text) }); n != 0 {
		t.Errorf("%v allocations a write", n)
	}
}
