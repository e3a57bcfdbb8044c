package fault

import (
	"bytes"
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "slow-head",
		Summary: "sends the answer's status line and headers in small pieces with a pause between them; on HTTP/2, where a head is one frame, it comes late by as much",
		Example: "{slow-head: {bytes: 16, every: 50ms}}",
		New:     func() Fault { return &SlowHead{} },
		Role:    ByHand,
	})
}

// SlowHead keeps a client waiting for the end of the head, where many have no timeout. The body comes at its own pace, and
// then the connection is closed.
type SlowHead struct {
	Bytes int           `yaml:"bytes" doc:"in one piece; default 1"`
	Every time.Duration `yaml:"every" doc:"from one piece to the next; default 100ms"`
	From  HeadPart      `yaml:"from" doc:"where it begins: with the status line (status, default) or behind it (headers)"`
}

// HeadPart is a part of an answer's head.
type HeadPart string

// The parts.
const (
	StatusLine HeadPart = "status"
	Headers    HeadPart = "headers"
)

var headParts = []HeadPart{StatusLine, Headers}

// UnmarshalText reads the word that plans use.
func (p *HeadPart) UnmarshalText(text []byte) error {
	return readWord(p, text, "unknown part", headParts)
}

// JSONSchema lists the words.
func (HeadPart) JSONSchema() map[string]any { return wordSchema(headParts) }

// Inject slows the head of what next answers.
func (f *SlowHead) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	slow := &slowHead{wrapped: wrapped{ResponseWriter: w}, r: r, bytes: f.Bytes, every: f.Every, from: f.From}
	if slow.bytes <= 0 {
		slow.bytes = 1
	}
	if slow.every <= 0 {
		slow.every = 100 * time.Millisecond
	}
	defer func() {
		if slow.conn.Conn != nil {
			_ = slow.conn.Close() // whatever happens
		}
	}()
	next.ServeHTTP(slow, r)
	slow.end()
}

// Validate wants pieces and pauses.
func (f *SlowHead) Validate(n strict.Node) { checkPace(n, f.Bytes, f.Every) }

// slowHead sends the head slowly and the body as it comes, on HTTP/1 by hand.
type slowHead struct {
	wrapped
	r      *http.Request
	bytes  int
	every  time.Duration
	from   HeadPart
	code   int    // 0: not said yet
	conn   framed // on HTTP/1, once the head was sent
	failed error  // the client left
}

func (s *slowHead) WriteHeader(code int) {
	switch {
	case code < 200:
		s.ResponseWriter.WriteHeader(code)
	case s.code == 0:
		s.code = code
		if s.r.ProtoMajor < 2 {
			s.byHand()
		} else if s.late() {
			s.ResponseWriter.WriteHeader(code)
		}
	}
}

// late waits for as long as the head would take in pieces.
func (s *slowHead) late() bool {
	pieces := (len(head(s.code, s.Header())) + s.bytes - 1) / s.bytes
	if !wait(s.r.Context(), time.Duration(pieces-1)*s.every) {
		s.failed = s.r.Context().Err()
	}
	return s.failed == nil
}

// byHand sends the head in pieces.
func (s *slowHead) byHand() {
	header := s.Header()
	s.conn.chunked = header.Get("Content-Length") == "" && !bodyless(s.code) && s.r.ProtoAtLeast(1, 1)
	if s.conn.chunked {
		header.Set("Transfer-Encoding", "chunked")
	}
	s.conn.Conn = byHand(s.ResponseWriter, s.r, s.code)
	s.conn.chunked = s.conn.chunked && s.r.Method != http.MethodHead
	ctx, stop := attend(s.r.Context(), s.conn.Conn, scribe(s.ResponseWriter).Left)
	defer stop()
	rest, piece := head(s.code, header), s.bytes
	if s.from == Headers {
		piece = bytes.IndexByte(rest, '\n') + 1
	}
	for s.failed == nil && len(rest) > piece {
		_, s.failed = s.conn.Conn.Write(rest[:piece])
		rest, piece = rest[piece:], s.bytes
		if s.failed == nil && !wait(ctx, s.every) {
			s.failed = ctx.Err()
		}
	}
	if stop(); s.failed == nil { // who leaves with the last piece may have all there is
		_, s.failed = s.conn.Conn.Write(rest)
	}
}

// Write sends a part of the body, as soon as the head is through.
func (s *slowHead) Write(p []byte) (int, error) {
	if s.code == 0 {
		s.WriteHeader(http.StatusOK)
	}
	switch {
	case s.failed != nil:
		return 0, s.failed
	case s.conn.Conn == nil:
		return s.ResponseWriter.Write(p)
	case s.r.Method == http.MethodHead || bodyless(s.code):
		return len(p), nil
	}
	n, err := s.conn.Write(p)
	if err != nil {
		s.failed = err
		scribe(s.ResponseWriter).Left()
	}
	return n, err
}

// FlushError has nothing to do on HTTP/1, where nothing is held back.
func (s *slowHead) FlushError() error {
	switch {
	case s.code == 0:
		s.WriteHeader(http.StatusOK)
		return s.FlushError()
	case s.failed != nil || s.conn.Conn != nil:
		return s.failed
	}
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// end completes the answer, or breaks it off when the client is gone.
func (s *slowHead) end() {
	if s.taken {
		return
	}
	if s.code == 0 {
		s.WriteHeader(http.StatusOK)
	}
	if s.failed == nil && s.conn.Conn != nil {
		s.failed = s.conn.end()
	}
	if s.failed != nil {
		abort()
	}
}
