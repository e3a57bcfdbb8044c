package faultserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"sync"
)

// prefetch is how much of a body is read before the upstream is asked. The rest streams.
const prefetch = 1 << 20

// hashing is what it takes to read and hash a body.
type hashing struct {
	hash   hash.Hash
	buffer [32 << 10]byte
	digest [sha256.Size]byte
}

var hashings = sync.Pool{New: func() any { return &hashing{hash: sha256.New()} }}

// sum returns the first 8 bytes of SHA-256, or 0 if nothing was hashed.
func sum(h hash.Hash, n int64, digest []byte) uint64 {
	if n == 0 {
		return 0
	}
	return binary.BigEndian.Uint64(h.Sum(digest[:0]))
}

// takeBody makes the request's body ready for what acts on it. It reports false when the request was answered already.
func (x *recorder) takeBody(r *http.Request) bool {
	if x.rule != nil && x.fault.Early() && !x.read && r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		x.entry.Early()
		x.stream(r, nil)
		x.upload.endless = true // what the fault leaves unread stays so
		return true
	}
	return x.readBody(r)
}

// readBody reads as much of the request's body as is needed before a fault can act, once, and journals it. It reports false
// when it answered the request itself.
//
// net/http notices that a client left only once the body was read, so reading early is what makes Gone exact.
func (x *recorder) readBody(r *http.Request) bool {
	if x.read {
		return !x.refused
	}
	x.read = true
	x.yield()
	switch {
	case r.Body == nil || r.Body == http.NoBody:
		x.entry.Body(0, 0, true)
		return true
	case x.server.upstream == nil:
		return x.consume(r)
	case r.ProtoMajor >= 2 && r.ContentLength < 0:
		// Such a stream may wait for an answer before it goes on, and HTTP/2 notices by itself when a client leaves.
		x.stream(r, nil)
		x.upload.endless = true
		return true
	default:
		x.fetch(r)
		return true
	}
}

// consume reads and hashes the whole body: the stub needs none of it.
func (x *recorder) consume(r *http.Request) bool {
	h := hashings.Get().(*hashing)
	defer hashings.Put(h)
	h.hash.Reset()
	n, limit := int64(0), x.server.bodyLimit
	var err error
	for err == nil && n <= limit {
		var k int
		k, err = r.Body.Read(h.buffer[:])
		h.hash.Write(h.buffer[:k])
		n += int64(k)
	}
	whole := err == io.EOF
	if x.broken = !whole; x.broken {
		x.leftIn(err)
	}
	x.bodySum = sum(h.hash, n, h.digest[:])
	x.entry.Body(x.bodySum, n, whole)
	if n > limit {
		x.Header().Set("Connection", "close")
		text := fmt.Sprintf("the body is larger than the %d bytes that this server reads", limit)
		http.Error(x, "retrygate: "+text, http.StatusRequestEntityTooLarge)
		x.refused = true
		return false
	}
	return true
}

// fetch reads the first part of the body and leaves all of it for the upstream to read.
func (x *recorder) fetch(r *http.Request) {
	var ahead []byte
	var err error
	if n := r.ContentLength; n >= 0 && n <= prefetch {
		ahead = make([]byte, n)
		var k int
		k, err = io.ReadFull(r.Body, ahead)
		ahead = ahead[:k]
	} else {
		ahead, err = io.ReadAll(io.LimitReader(r.Body, prefetch))
		if err == nil && len(ahead) == prefetch {
			x.stream(r, ahead)
			return
		}
	}
	digest := sha256.Sum256(ahead)
	if len(ahead) > 0 {
		x.bodySum = binary.BigEndian.Uint64(digest[:])
	}
	x.entry.Body(x.bodySum, int64(len(ahead)), err == nil)
	if err != nil {
		x.leftIn(err)
		// The upstream must not take half a body for a whole one.
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(ahead), failing{err}))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(ahead))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(ahead)), nil }
}

// leftIn looks at why a body ended. Before it was read to its end, net/http does not notice that a client left.
func (x *recorder) leftIn(err error) {
	var broken *net.OpError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) {
		x.left()
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// stream leaves the rest of the body to be hashed as it passes.
func (x *recorder) stream(r *http.Request, ahead []byte) {
	u := &upload{x: x, ahead: *bytes.NewReader(ahead), rest: r.Body, hash: sha256.New(), n: int64(len(ahead))}
	u.hash.Write(ahead)
	x.bodySum = sum(u.hash, u.n, nil)
	x.upload, r.Body = u, u
}
