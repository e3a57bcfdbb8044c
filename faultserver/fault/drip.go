package fault

import (
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "drip",
		Summary: "sends the answer's body at a byte rate: a small piece, a pause, the next piece",
		Example: "{drip: {bytes: 1, every: 100ms}}",
		New:     func() Fault { return &Drip{} },
		Role:    Shaping,
	})
}

// Drip keeps a client reading: each byte comes before a read timeout, the end never seems to.
type Drip struct {
	Bytes int           `yaml:"bytes" doc:"in one piece; default 1"`
	Every time.Duration `yaml:"every" doc:"from one piece to the next; default 100ms"`
}

// Inject slows down what next writes.
func (d *Drip) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	slow := &dripping{ResponseWriter: w, r: r, bytes: d.Bytes, every: d.Every}
	if slow.bytes <= 0 {
		slow.bytes = 1
	}
	if slow.every <= 0 {
		slow.every = 100 * time.Millisecond
	}
	next.ServeHTTP(slow, r)
	if slow.gone {
		abort() // half a body must not end as if it were whole
	}
}

// Validate wants pieces and pauses.
func (d *Drip) Validate(n strict.Node) { checkPace(n, d.Bytes, d.Every) }

// checkPace wants pieces and pauses.
func checkPace(n strict.Node, bytes int, every time.Duration) {
	if _, ok := n.Field("bytes"); ok {
		strict.AtLeast(n, "bytes", bytes, 1)
	}
	if _, ok := n.Field("every"); ok {
		strict.Above(n, "every", every, 0)
	}
}

// dripping writes in pieces.
type dripping struct {
	http.ResponseWriter
	r     *http.Request
	bytes int
	every time.Duration
	begun bool
	left  int  // of the piece that is being sent
	gone  bool // the client left
}

// Unwrap gives http.ResponseController the way to what dripping does not do itself.
func (d *dripping) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// Write hands over one piece after the other. The first goes out at once; a piece may come from several Writes.
func (d *dripping) Write(p []byte) (written int, err error) {
	flusher := http.NewResponseController(d.ResponseWriter)
	for len(p) > 0 {
		if d.left == 0 {
			if d.begun && !wait(d.r.Context(), d.every) {
				d.gone = true
				return written, d.r.Context().Err()
			}
			d.begun, d.left = true, d.bytes
		}
		n, err := d.ResponseWriter.Write(p[:min(len(p), d.left)])
		written, d.left, p = written+n, d.left-n, p[n:]
		if err != nil {
			return written, err
		}
		if err := flusher.Flush(); err != nil {
			return written, err
		}
	}
	return written, nil
}
