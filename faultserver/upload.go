package faultserver

import (
	"bytes"
	"hash"
	"io"
	"sync"
)

// upload is a body that is read while it comes in: first what was fetched, then the rest.
type upload struct {
	x       *recorder
	ahead   bytes.Reader
	rest    io.ReadCloser
	endless bool // nothing is read of it but what is asked for: it may go on until it sees an answer

	mu   sync.Mutex // the upstream's transport may read on while the exchange ends
	hash hash.Hash
	n    int64
	done bool // journalled
	over bool // its end was read
}

// Read hashes what passes, and journals the body at its end.
func (u *upload) Read(p []byte) (int, error) {
	if u.ahead.Len() > 0 {
		return u.ahead.Read(p)
	}
	if u.isOver() {
		return 0, io.EOF // net/http may have closed the rest by now: the answer has begun
	}
	n, err := u.rest.Read(p)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = err == io.EOF
	u.hash.Write(p[:n])
	u.n += int64(n)
	if err != nil {
		u.x.leftIn(err)
		u.journal(err == io.EOF)
	}
	return n, err
}

// isOver reports whether all was read. The upstream's transport asks once more after it has sent the whole body; an error
// instead of the end would make it give up the answer.
func (u *upload) isOver() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.over
}

// Close closes the underlying body.
func (u *upload) Close() error { return u.rest.Close() }

// drain reads what nobody asked for, up to the server's limit.
func (u *upload) drain() {
	if !u.endless {
		_, _ = io.Copy(io.Discard, io.LimitReader(u, u.x.server.bodyLimit))
	}
}

// end journals what came of the body until the exchange ended.
func (u *upload) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.journal(false)
}

func (u *upload) journal(whole bool) {
	if !u.done {
		u.done = true
		u.x.entry.Body(sum(u.hash, u.n, nil), u.n, whole)
	}
}
