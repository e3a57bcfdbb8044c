package fault

import (
	"net/http"
	"regexp"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "garbage",
		Summary: "sends bytes that are not HTTP, or a status line that is malformed, and closes the connection; on HTTP/2 it resets the stream",
		Example: "{garbage: {bytes: 64}}",
		New:     func() Fault { return &Garbage{} },
		Role:    Final,
	})
}

// Garbage answers as a broken proxy does, or a server of another protocol.
type Garbage struct {
	Bytes int    `yaml:"bytes" doc:"how many; default 64"`
	Line  string `yaml:"line" doc:"or the line to send for a status line; headers in order follow"`
}

// maxGarbage is more than a client reads of a status line.
const maxGarbage = 1 << 20

// unread bounds how long garbage waits for a client that does not read: nothing else ends it after the connection was
// taken over.
const unread = 10 * time.Second

// Inject sends the bytes; next is not called.
func (g *Garbage) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	bytes := g.bytes(w)
	if g.Line != "" {
		bytes = []byte(g.Line + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
	conn := takeOver(w)
	_ = conn.SetDeadline(time.Now().Add(unread))
	_, _ = conn.Write(bytes)
	_ = conn.Close()
}

// bytes draws bytes that stand in no status line, with a line end last so that clients look at them.
func (g *Garbage) bytes(w http.ResponseWriter) []byte {
	n := g.Bytes
	if n <= 0 {
		n = 64
	}
	random, bytes := draw(w), make([]byte, n)
	for i := range bytes {
		bytes[i] = 0x80 | byte(random.UintN(0x80))
	}
	if n > 1 {
		bytes[n-1] = '\n'
	}
	return bytes
}

// statusLine is one that is in order (RFC 9112 4); clients take a missing reason, too.
var statusLine = regexp.MustCompile(`^HTTP/1\.[01] [1-5][0-9]{2}( [\t -~]*)?$`)

// Validate bounds the size, and wants a line that is none.
func (g *Garbage) Validate(n strict.Node) {
	if g.Line != "" {
		switch {
		case g.Bytes != 0:
			n.At("line").Fail("bytes and line cannot stand together; keep one")
		case !ValidValue(g.Line):
			n.At("line").Fail("line has a line end or another control character in it")
		case statusLine.MatchString(g.Line):
			n.At("line").Fail("line: %q is a status line in order; want one that is not, such as %q", g.Line, "HTTP/1.1 2OO OK")
		}
	}
	if _, ok := n.Field("bytes"); ok {
		strict.Between(n, "bytes", g.Bytes, 1, maxGarbage)
	}
}
