package fault

import (
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "garbage",
		Summary: "sends bytes that are not HTTP and closes the connection; on HTTP/2 it resets the stream",
		Example: "{garbage: {bytes: 64}}",
		New:     func() Fault { return &Garbage{} },
	})
}

// Garbage answers as a broken proxy does, or a server of another protocol.
type Garbage struct {
	Bytes int `yaml:"bytes"` // how many; default 64
}

// maxGarbage is more than a client reads of a status line.
const maxGarbage = 1 << 20

// unread bounds how long garbage waits for a client that does not read: nothing else ends it after the connection was
// taken over.
const unread = 10 * time.Second

// Last says that nothing behind acts.
func (*Garbage) Last() {}

// Inject sends the bytes; next is not called.
func (g *Garbage) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	bytes := g.bytes(w)
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

// Validate bounds the size.
func (g *Garbage) Validate(n strict.Node) {
	if _, ok := n.Field("bytes"); ok {
		strict.Between(n, "bytes", g.Bytes, 1, maxGarbage)
	}
}
