package faultserver_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// framer is a client that speaks HTTP/2 frame by frame.
type framer struct {
	*http2.Framer
	t       *testing.T
	conn    net.Conn
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func dialFramer(t *testing.T, url string) *framer {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	c := &framer{t: t, conn: conn, Framer: http2.NewFramer(conn, conn)}
	c.encoder = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err = io.WriteString(conn, http2.ClientPreface)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return c
}

// headers encodes the header of a request.
func (c *framer) headers(method, path string, more ...string) []byte {
	c.block.Reset()
	fields := append([]string{":method", method, ":scheme", "http", ":authority", "t.test", ":path", path}, more...)
	for i := 0; i < len(fields); i += 2 {
		_ = c.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(c.block.Bytes())
}

// ask sends a request; open leaves its body to come.
func (c *framer) ask(id uint32, path string, open bool) {
	c.t.Helper()
	method := "GET"
	if open {
		method = "POST"
	}
	err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.headers(method, path), EndHeaders: true, EndStream: !open})
	if err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next frame that tells something, written down: "1 200 end", "3 reset REFUSED_STREAM", "goaway 1 NO_ERROR".
func (c *framer) next() string {
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return strings.ReplaceAll(err.Error(), "unexpected EOF", "EOF")
		}
		end := ""
		if f.Header().Flags.Has(http2.FlagDataEndStream) {
			end = " end"
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = c.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			return fmt.Sprintf("%d %s%s", f.StreamID, f.PseudoValue("status"), end)
		case *http2.DataFrame:
			if end != "" {
				return fmt.Sprintf("%d end", f.StreamID)
			}
		case *http2.RSTStreamFrame:
			return fmt.Sprintf("%d reset %v", f.StreamID, f.ErrCode)
		case *http2.GoAwayFrame:
			return strings.TrimSpace(fmt.Sprintf("goaway %d %v %s", f.LastStreamID, f.ErrCode, f.DebugData()))
		}
	}
}

// sees reads so many frames as there are texts, and compares.
func (c *framer) sees(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got := c.next(); got != w {
			c.t.Fatalf("saw %q, want %q", got, w)
		}
	}
}

// waits until the journal has n entries, which all ended unless open of them go on.
func (w *socket) waits(t *testing.T, n, open int) {
	t.Helper()
	for late := time.After(10 * time.Second); w.server.Journal().Len() < n || w.server.Journal().Pending() > open; {
		select {
		case <-w.server.Journal().Changed():
		case <-time.After(10 * time.Millisecond):
		case <-late:
			t.Fatalf("the journal has %+v", w.server.Journal().Entries())
		}
	}
}

// Each code is the one that was chosen, on the first stream and on later ones, and other streams do not notice.
func TestStreamResetsOnTheWire(t *testing.T) {
	for text, code := range map[string]string{
		"refused-stream":                                   "REFUSED_STREAM",
		"stream-reset":                                     "INTERNAL_ERROR",
		"{stream-reset: {code: cancel}}":                   "CANCEL",
		"{stream-reset: {code: enhance-your-calm}}":        "ENHANCE_YOUR_CALM",
		"{stream-reset: {code: http-1.1-required}}":        "HTTP_1_1_REQUIRED",
		"{stream-reset: {code: no-error}}":                 "NO_ERROR",
		"{stream-reset: {code: 0xabcdef01}}":               "unknown error code 0xabcdef01",
		"{stream-reset: {code: cancel, after: head}}":      "CANCEL",
		"[{latency: {fixed: 10ms}}, {refused-stream: {}}]": "REFUSED_STREAM",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := listenWith(t, text, view{version: "HTTP/2.0"})
			c := dialFramer(t, w.url)
			c.ask(1, "/bad", false)
			c.sees("1 reset " + code)
			c.ask(3, "/good", true)
			w.waits(t, 2, 1)
			c.ask(5, "/bad", false)
			c.sees("5 reset " + code)
			_ = c.WriteData(3, true, []byte("hello"))
			c.sees("3 200", "3 end")
			for i, e := range w.entries(t, 3) {
				if bad := i != 1; e.Cut != bad || (e.Fault != "") != bad || e.Unprocessed != (bad && code == "REFUSED_STREAM") || e.Conn != 1 ||
					bad && (e.Status != 0 || e.Upstream != 0) || e.Gone != 0 || e.Proto != "HTTP/2.0" {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// GOAWAY names the stream before; those below end in order, those above are swallowed, and then the connection ends.
func TestGoAwayOnTheWire(t *testing.T) {
	w := listenWith(t, "{goaway: {code: enhance-your-calm, debug: bye}}", view{version: "HTTP/2.0"})
	c := dialFramer(t, w.url)
	c.ask(1, "/good", false)
	c.sees("1 200", "1 end")
	c.ask(3, "/good", true)
	w.waits(t, 2, 1)
	c.ask(5, "/bad", true)
	c.sees("goaway 3 ENHANCE_YOUR_CALM bye")
	c.ask(7, "/good", true)
	w.waits(t, 4, 1)
	_ = c.WriteData(5, true, []byte("too late"))
	_ = c.WriteData(7, true, []byte("too late"))
	_ = c.WriteData(3, true, []byte("hello"))
	c.sees("3 200", "3 end", "EOF")
	want := "1 200 |3 200 |5 0 goaway unprocessed|7 0 goaway unprocessed"
	if got := streamText(w, t, 4); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, e := range w.entries(t, 4)[2:] {
		if e.BodyWhole || !e.Early {
			t.Errorf("the body was read: %+v", e)
		}
	}
	if fired := w.server.Fired()["it"]; fired != 2 {
		t.Errorf("fired %d times", fired)
	}
}

// streamText writes n entries down by their place on the connection.
func streamText(w *socket, t *testing.T, n int) string {
	var all []string
	for i, e := range w.entries(t, n) {
		text := fmt.Sprintf("%d %d %s", 2*i+1, e.Status, e.Fault)
		if e.Unprocessed {
			text += " unprocessed"
		}
		if e.Gone > 0 || e.Conn != 1 || e.Unprocessed && (!e.Cut || e.Upstream != 0) {
			text += fmt.Sprintf(" %+v", e)
		}
		all = append(all, text)
	}
	return strings.Join(all, "|")
}

// What was begun before counts as processed, so GOAWAY does not refuse it: it refuses the request in question by itself.
func TestGoAwayKeepsWhatWasBegun(t *testing.T) {
	w := listenWith(t, "[{latency: {fixed: 300ms}}, {goaway: {}}]", view{version: "HTTP/2.0"})
	c := dialFramer(t, w.url)
	c.ask(1, "/bad", false)
	w.waits(t, 1, 1)
	c.ask(3, "/good", true)
	w.waits(t, 2, 2)
	c.sees("goaway 3 NO_ERROR", "1 reset REFUSED_STREAM")
	_ = c.WriteData(3, true, []byte("hello"))
	c.sees("3 200", "3 end", "EOF")
	if got, want := streamText(w, t, 2), "1 0 latency+goaway unprocessed|3 200 "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// In good order, the request in question is answered; later ones are not.
func TestGoAwayInGoodOrder(t *testing.T) {
	w := listenWith(t, "{goaway: {last: this}}", view{version: "HTTP/2.0"})
	c := dialFramer(t, w.url)
	c.ask(1, "/good", true)
	w.waits(t, 1, 1)
	c.ask(3, "/bad", false)
	c.sees("goaway 3 NO_ERROR", "3 200", "3 end")
	c.ask(5, "/good", false)
	w.waits(t, 3, 1)
	_ = c.WriteData(1, true, nil)
	c.sees("1 200", "1 end", "EOF")
	if got, want := streamText(w, t, 3), "1 200 |3 200 goaway|5 0 goaway unprocessed"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What net/http refuses within a connection stands in the journal, and the connection goes on.
func TestRefusedStreamsAreSeen(t *testing.T) {
	w := listenWith(t, "503", view{version: "HTTP/2.0"})
	c := dialFramer(t, w.url)
	c.ask(1, "/good", false)
	c.sees("1 200", "1 end")
	send := func(id uint32, more ...string) {
		_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.headers("GET", "/x", more...), EndHeaders: true, EndStream: true})
	}
	send(3, "connection", "close")
	c.sees("3 400", "3 end")
	send(5, slices.Repeat([]string{"x-large", strings.Repeat("é", 5<<10)}, 8)...)
	c.sees("5 431", "5 end")
	c.ask(7, "/good", false)
	c.sees("7 200", "7 end")
	entries := w.entries(t, 4)
	if e := entries[1]; !e.Refused() || e.Cut || e.Status != 400 || e.Conn != 1 {
		t.Errorf("%+v", e)
	}
	if e := entries[2]; !e.Refused() || e.Status != 431 {
		t.Errorf("%+v", e)
	}
	send(9, ":late", "1")
	c.sees("9 reset PROTOCOL_ERROR")
	if e := w.entries(t, 5)[4]; !e.Refused() || !e.Cut || e.Status != 0 {
		t.Errorf("%+v", e)
	}
	_ = c.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, binary.BigEndian.AppendUint32(nil, 0))
	c.sees("goaway 7 PROTOCOL_ERROR", "EOF")
	if e := w.entries(t, 6)[5]; !e.Refused() || !e.Cut {
		t.Errorf("%+v", e)
	}
}

// However a block of headers is laid out, the request is the one that was sent, and trailers are left alone.
func TestBlocksOfHeaders(t *testing.T) {
	w := listenWith(t, "refused-stream", view{version: "HTTP/2.0"})
	c := dialFramer(t, w.url)
	block := c.headers("POST", "/bad")
	padded := http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true, PadLength: 200, Priority: http2.PriorityParam{StreamDep: 9, Weight: 3}}
	if err := c.WriteHeaders(padded); err != nil {
		t.Fatal(err)
	}
	c.sees("1 reset REFUSED_STREAM")
	block = c.headers("POST", "/bad", "x-retrygate-stream-0123456789ab", "77")
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, EndStream: true})
	for i := range block {
		_ = c.WriteContinuation(3, i == len(block)-1, block[i:i+1])
	}
	c.sees("3 reset REFUSED_STREAM")
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 5, BlockFragment: c.headers("POST", "/good", "trailer", "x-sum"), EndHeaders: true})
	_ = c.WriteData(5, false, []byte("hello"))
	c.block.Reset()
	_ = c.encoder.WriteField(hpack.HeaderField{Name: "x-sum", Value: "1"})
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 5, BlockFragment: bytes.Clone(c.block.Bytes()), EndHeaders: true, EndStream: true})
	c.sees("5 200", "5 end")
	if got, want := streamText(w, t, 3), "1 0 refused-stream unprocessed|3 0 refused-stream unprocessed|5 200 "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// On HTTP/1.1, and on servers of others, the faults leave the request alone: it is no hit, and nothing says that they acted.
func TestStreamFaultsLeaveHTTP1Alone(t *testing.T) {
	for _, text := range []string{"refused-stream", "goaway", "stream-reset", "[{latency: {fixed: 1ms}}, {refused-stream: {}}]"} {
		w := listenWith(t, text, view{version: "HTTP/1.1"})
		if got := askGo(t, w, proof{patience: 10 * time.Second}, true); !strings.HasPrefix(got, "200 ") {
			t.Error(got)
		}
		for _, e := range w.entries(t, 2) {
			if e.Fault != "" || e.Rule != "" || e.Status != 200 {
				t.Errorf("%s: %+v", text, e)
			}
		}
		if w.server.Fired()["it"] != 0 {
			t.Errorf("%s fired", text)
		}
	}
}
