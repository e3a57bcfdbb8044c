package fault

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Stream is the HTTP/2 stream that an exchange takes place on. The server's response writer implements it.
type Stream interface {
	// OnStream reports whether there is one that the server can act on. On HTTP/1 there is none.
	OnStream() bool
	// Code chooses the error code of the RST_STREAM that ends the exchange when the fault panics with
	// http.ErrAbortHandler. REFUSED_STREAM may be chosen before an answer has begun only.
	Code(code uint32)
	// GoAway sends GOAWAY, whose last stream is the one before, so that the fault has to abort; or, if the request is
	// processed, this one. It closes the connection when the streams up to the last have ended.
	GoAway(processed bool, code uint32, debug string)
}

// Streamed is a fault that exists on HTTP/2 only. The server leaves other exchanges alone, and so does Inject.
type Streamed interface {
	Fault
	Streamed()
}

// stream finds the exchange's stream.
func stream(w http.ResponseWriter) (Stream, bool) {
	s, ok := find[Stream](w)
	return s, ok && s.OnStream()
}

// Code is an HTTP/2 error code.
type Code uint32

// The codes that faults send by default.
const (
	NoError       Code = 0x0
	InternalError Code = 0x2
	RefusedStream Code = 0x7
)

// codes are the names of the codes of RFC 9113, 7, by number.
var codes = []string{
	"no-error", "protocol-error", "internal-error", "flow-control-error", "settings-timeout", "stream-closed",
	"frame-size-error", "refused-stream", "cancel", "compression-error", "connect-error", "enhance-your-calm",
	"inadequate-security", "http-1.1-required",
}

// String is the code's name, or its number.
func (c Code) String() string {
	if int(c) < len(codes) {
		return codes[c]
	}
	return strconv.FormatUint(uint64(c), 10)
}

// MarshalText writes the name.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name, or a number of one that has none.
func (c *Code) UnmarshalText(text []byte) error {
	if i := slices.Index(codes, string(text)); i >= 0 {
		*c = Code(i)
		return nil
	}
	n, err := strconv.ParseUint(string(text), 0, 32)
	if err != nil {
		return fmt.Errorf("unknown HTTP/2 error code %q%s", text, registry.Suggest(string(text), codes))
	}
	*c = Code(n)
	return nil
}

// JSONSchema lists the names and allows a number.
func (Code) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"enum": codes}, map[string]any{"type": "integer", "minimum": 0, "maximum": math.MaxUint32}}}
}
