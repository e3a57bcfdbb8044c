package fault

import (
	"net/http"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "bad-chunk",
		Summary: "sends the answer in chunks, one of which has no size that could be read; on HTTP/2, which has no chunks, it resets the stream there",
		Example: "{bad-chunk: {bytes: 5}}",
		New:     func() Fault { return &BadChunk{} },
		Role:    ByHand,
	})
}

// BadChunk garbles the chunked encoding of what next answers, and closes the connection. An answer without a body never
// comes.
type BadChunk struct {
	Bytes int `yaml:"bytes" doc:"how much of the body comes in good chunks before; default 0"`
}

// Inject garbles what next writes.
func (f *BadChunk) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.ProtoMajor >= 2 {
		(&Truncate{Bytes: &f.Bytes}).Inject(w, r, next)
		return
	}
	g := &garbling{wrapped: wrapped{ResponseWriter: w}, r: r, left: f.Bytes}
	defer g.close() // whatever happens
	next.ServeHTTP(g, r)
	g.end()
}

// Validate wants no negative number.
func (f *BadChunk) Validate(n strict.Node) { strict.AtLeast(n, "bytes", f.Bytes, 0) }

// badSize stands where a chunk's size should: no hexadecimal number.
const badSize = "xyz\r\n"

// garbling sends good chunks up to a place, by hand.
type garbling struct {
	wrapped
	r    *http.Request
	left int // bytes that come in good chunks
	code int // 0: not said yet
	conn framed
	done bool
}

func (g *garbling) WriteHeader(code int) {
	if code < 200 {
		g.ResponseWriter.WriteHeader(code)
		return
	}
	if g.code != 0 {
		return
	}
	g.code = code
	if g.r.Method == http.MethodHead || bodyless(code) {
		return
	}
	g.Header().Del("Content-Length")
	g.Header().Set("Transfer-Encoding", "chunked")
	g.conn = framed{byHand(g.ResponseWriter, g.r, code), true}
	_, _ = g.conn.Conn.Write(head(code, g.Header()))
}

// Write sends good chunks, then the bad one, and then fails: the handler need not go on.
func (g *garbling) Write(p []byte) (int, error) {
	if g.code == 0 {
		g.WriteHeader(http.StatusOK)
	}
	if g.conn.Conn == nil {
		return len(p), nil
	}
	if g.done {
		return 0, errCut
	}
	n, err := g.conn.Write(p[:min(len(p), g.left)])
	g.left -= n
	if err == nil && g.left == 0 {
		g.garble()
	}
	return n, err
}

// FlushError has nothing to do: nothing is held back.
func (g *garbling) FlushError() error { return nil }

// garble sends the bad chunk.
func (g *garbling) garble() {
	g.done = true
	scribe(g).Cut()
	_, _ = g.conn.Conn.Write([]byte(badSize))
	g.close()
}

func (g *garbling) close() {
	if g.conn.Conn != nil {
		_ = g.conn.Close()
	}
}

// end garbles the end where the body was shorter. An answer without a body is not sent: it would be in order.
func (g *garbling) end() {
	if g.taken {
		return
	}
	if g.code == 0 {
		g.WriteHeader(http.StatusOK)
	}
	switch {
	case g.conn.Conn == nil:
		drain(g.r)
		hangUp(g.ResponseWriter)
	case !g.done:
		g.garble()
	}
}
