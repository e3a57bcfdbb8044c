package fault

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Extent says how much of a request is read before a fault acts: Body, Head, Half, or so many bytes of the body.
type Extent int64

// Body is all of the request. Head is no byte of the body, Half is half of its declared length, rounded down; where no
// length is declared, its first byte.
const (
	Body Extent = 0
	Head Extent = -1
	Half Extent = -2
)

var extents = map[string]Extent{"body": Body, "head": Head, "half": Half}

var extentNames = []string{"body", "half", "head"}

// UnmarshalText reads the word that plans use, or a number of bytes.
func (x *Extent) UnmarshalText(text []byte) error {
	if known, ok := extents[string(text)]; ok {
		*x = known
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	switch {
	case err == nil && n > 0:
		*x = Extent(n)
		return nil
	case err == nil:
		return fmt.Errorf("%d bytes is out of range; want 1 or more, or head to read nothing of the body", n)
	}
	return fmt.Errorf("%q is no part of a request; want a number of bytes, or a word%s", text, registry.Suggest(string(text), extentNames))
}

// JSONSchema lists the words and allows a number.
func (Extent) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"enum": extentNames}, map[string]any{"type": "integer", "minimum": 1}}}
}

// Validate is for extents that were made in Go.
func (x *Extent) Validate(n strict.Node) {
	if *x < Half {
		n.Fail("after: %d bytes is out of range; want 1 or more, Head, Half or Body", *x)
	}
}

// early reports whether a part of the body may stay unread.
func (x Extent) early() bool { return x != Body }

// read takes so much of the request. Where less comes, it returns at the end.
func (x Extent) read(r *http.Request) {
	n := int64(x)
	switch {
	case r.Body == nil || x == Head:
		return
	case x == Body:
		drain(r)
		return
	case x == Half && r.ContentLength < 0:
		n = 1
	case x == Half:
		n = r.ContentLength / 2
	}
	_, _ = io.CopyN(io.Discard, r.Body, n)
}
