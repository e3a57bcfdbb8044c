package fault

import (
	"net/http"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name: "goaway",
		Summary: "sends HTTP/2's GOAWAY: the requests up to the one before are answered, this one and later ones were not processed; then the " +
			"connection is closed; leaves HTTP/1.1 alone",
		Example: "{goaway: {last: previous, code: no-error}}",
		New:     func() Fault { return &GoAway{} },
		Role:    Final,
	})
}

// GoAway ends a connection as a server does that is deployed anew, or a proxy that balances load (RFC 9113, 6.8). Requests
// that still come over it are met too: they are not processed, and the client has to send them over another.
type GoAway struct {
	Last  Last   `yaml:"last" doc:"the last request that is answered: previous (default), the one before; this, in good order"`
	Code  Code   `yaml:"code" doc:"an error code of HTTP/2, or its number; default no-error"`
	Debug string `yaml:"debug" doc:"text for people that goes with it; default none"`
}

// Streamed says that the fault exists on HTTP/2 only.
func (*GoAway) Streamed() {}

// Early reports that no body is read of a request that is not processed.
func (f *GoAway) Early() bool { return f.Last != This }

// Validate bounds the text.
func (f *GoAway) Validate(n strict.Node) {
	if len(f.Debug) > mostDebug {
		n.At("debug").Fail("debug has %d bytes; at most %d fit into a frame that every client takes", len(f.Debug), mostDebug)
	}
}

// mostDebug fits into the least frame that clients have to take, 16 KiB.
const mostDebug = 16<<10 - 8

// Inject sends GOAWAY; next answers what is processed, and exchanges without a stream.
func (f *GoAway) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if s, ok := stream(w); ok {
		s.GoAway(f.Last == This, uint32(f.Code), f.Debug)
		if f.Last != This {
			abort()
		}
	}
	next.ServeHTTP(w, r)
}

// Last says which request is the last that is processed.
type Last string

// The requests that may be the last; no word is Previous.
const (
	Previous Last = "previous" // the one before
	This     Last = "this"
)

var lasts = []Last{Previous, This}

// UnmarshalText reads the word that plans use.
func (l *Last) UnmarshalText(text []byte) error {
	return readWord(l, text, "unknown last request", lasts)
}

// JSONSchema lists the words that plans use.
func (Last) JSONSchema() map[string]any { return wordSchema(lasts) }
