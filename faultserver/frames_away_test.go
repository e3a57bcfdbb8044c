package faultserver_test

import (
	"bytes"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
)

// sink is a connection that keeps what is written, and when it was ended. Nothing comes over it but what rest holds.
type sink struct {
	pieces
	half, closed atomic.Bool
}

func (c *sink) CloseWrite() error { c.half.Store(true); return nil }
func (c *sink) Close() error      { c.closed.Store(true); return nil }

// goingAway is a connection with streams 1 and 3, of which a fault refused the second.
func goingAway(t *testing.T, c *sink) interface {
	Write(p []byte) (int, error)
	Read(p []byte) (int, error)
	Begin(id uint32) (away bool)
	GoAway(id uint32, all bool) (refuse bool)
} {
	t.Helper()
	c.size = 1 << 20
	f, _ := faultserver.Frames(c)
	_, _ = f.Write([]byte(settings))
	f.Open(1)
	f.Open(3)
	if f.Begin(3) || f.GoAway(3, false) {
		t.Fatal("stream 3 is refused before GOAWAY says so, or twice")
	}
	return f
}

var settings = frame(4, 0, 0, "")

const away = "\x00\x00\x00\x01\x00\x00\x00\x00" // the last stream is 1, without an error

// The last stream that GOAWAY names is processed, however late its request is begun; those above are not.
func TestTheLastStreamIsProcessed(t *testing.T) {
	f := goingAway(t, new(sink))
	if f.Begin(1) || !f.Begin(5) {
		t.Error("stream 1 is not processed, or 5 is")
	}
	if !f.GoAway(1, false) || f.GoAway(1, true) {
		t.Error("there is one GOAWAY: a request that is to be refused after it must be so by itself, one in good order must not")
	}
}

// What net/http says of the last stream does not take back what a fault said, and frames of refused streams stay here.
func TestGoAwayIsNotTakenBack(t *testing.T) {
	for size := 1; size < 40; size += 3 {
		c := new(sink)
		f := goingAway(t, c)
		text := frame(7, 0, 0, "\x00\x00\x00\x09\x00\x00\x00\x02why") + frame(8, 0, 3, "1234") + frame(3, 0, 3, "1234") + frame(8, 0, 0, "1234")
		for p := range strings.SplitSeq(text, "") {
			_, _ = f.Write([]byte(p))
		}
		want := settings + frame(7, 0, 0, away) + frame(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x02why") + frame(8, 0, 0, "1234")
		if got := c.out.String(); got != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}

// GOAWAY never stands within a frame nor within a block of headers, where it would be an error of the connection.
func TestGoAwayWaitsForTheBlock(t *testing.T) {
	c := &sink{}
	f, _ := faultserver.Frames(c)
	head, rest := frame(1, 0, 1, "\x88"), frame(9, 4, 1, "\x0f\x0d\x01\x30")
	f.Open(1)
	f.Open(3)
	_, _ = f.Write([]byte(settings + head))
	f.GoAway(3, false)
	_, _ = f.Write([]byte(rest[:5]))
	_, _ = f.Write([]byte(rest[5:]))
	if got, want := c.out.String(), settings+head+rest+frame(7, 0, 0, away); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Once the streams up to the last have ended the connection does: nothing more goes out, and the client has a moment to
// close it. Where they do not end, that is a minute later. The end may come from either side.
func TestConnectionsThatGoAwayEnd(t *testing.T) {
	for name, c := range map[string]struct{ in, out string }{
		"answered":             {out: frame(0, 1, 1, "ok")},
		"answered by its head": {out: frame(1, 5, 1, "\x88")},
		"reset":                {out: frame(3, 0, 1, "1234")},
		"reset by the client":  {in: frame(3, 0, 1, "1234")},
		"never":                {out: frame(0, 0, 1, "and so on")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &sink{pieces: pieces{rest: []byte(c.in)}}
				f := goingAway(t, conn)
				began := time.Now()
				_, _ = f.Read(make([]byte, 100))
				if c.out != "" { // else nobody writes that could see to the end
					_, _ = f.Write([]byte(c.out))
				}
				synctest.Wait()
				if ends := name != "never"; conn.half.Load() != ends {
					t.Errorf("its end was sent: %v", !ends)
				} else if n := conn.out.Len(); ends {
					if k, err := f.Write([]byte(frame(8, 0, 0, "1234"))); k != 13 || err != nil || conn.out.Len() != n {
						t.Errorf("%d, %v; and %d more bytes", k, err, conn.out.Len()-n)
					}
				}
				for !conn.closed.Load() && time.Since(began) < 2*time.Minute {
					time.Sleep(100 * ms)
				}
				want := 500 * ms
				if name == "never" {
					want = time.Minute
				}
				if took := time.Since(began); took < want || took > want+100*ms {
					t.Errorf("it was closed after %v", took)
				}
			})
		})
	}
}

// What is known of streams is bounded, whatever a client opens.
func TestStreamsAreBounded(t *testing.T) {
	f, _ := faultserver.Frames(new(sink))
	for id := uint32(1); id < 100_000; id += 2 {
		f.Open(id)
	}
	if held := f.Held(); held > 4<<10+1<<14 {
		t.Errorf("it holds %d", held)
	}
}

// Headers that are as large as may be get their field in a frame behind, and what breaks off passes as it is.
func TestFramesAtTheirLimits(t *testing.T) {
	large := frame(1, 5, 1, strings.Repeat("\x82", 1<<20-10))
	got := through(t, []byte(large), 1<<20, 1<<20)
	if want := frame(1, 1, 1, strings.Repeat("\x82", 1<<20-10)); !bytes.HasPrefix(got, []byte(want)) || got[len(want)+3] != 9 || got[len(want)+4] != 4 {
		t.Errorf("%d bytes, behind the headers %q", len(got), got[min(len(got), len(want)):])
	}
	for _, text := range []string{"\x00", settings + "\x00\x00\x01", frame(0, 0, 1, "data")[:11]} {
		for size := 1; size < 20; size++ {
			if got := through(t, []byte(text), size, 20); string(got) != text {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
}

var _ net.Conn = (*sink)(nil)
