// Package history builds journals by hand, for tests: who sent what when, and what became of it.
package history

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Builder collects entries. Until told otherwise they are whole GETs of / by client "a", each on a connection of its own.
type Builder struct {
	entries  []journal.Entry
	template journal.Entry
	conn     uint64 // last connection number given out
	pinned   uint64 // connection that entries share; 0: a new one each
}

// New starts an empty history.
func New() *Builder {
	return &Builder{template: journal.Entry{Client: "a", Method: "GET", Path: "/", BodyWhole: true, Proto: "HTTP/1.1"}}
}

// Client sets who sends the entries that follow.
func (b *Builder) Client(name string) *Builder { b.template.Client = name; return b }

// Request sets the method and path of the entries that follow.
func (b *Builder) Request(method, path string) *Builder {
	b.template.Method, b.template.Path = method, path
	return b
}

// Body sets the body of the entries that follow.
func (b *Builder) Body(body string) *Builder {
	b.template.BodySum, b.template.BodyLen = 0, int64(len(body))
	if body != "" {
		h := fnv.New64a()
		_, _ = h.Write([]byte(body)) // a hash never fails
		b.template.BodySum = h.Sum64()
	}
	return b
}

// Key sets the idempotency key of the entries that follow.
func (b *Builder) Key(key string) *Builder { b.template.Key = key; return b }

// Call sets the correlation id of the entries that follow.
func (b *Builder) Call(id string) *Builder { b.template.Call = id; return b }

// Auth sets the credentials of the entries that follow.
func (b *Builder) Auth(sum uint64) *Builder { b.template.Auth = sum; return b }

// Sent sets what else the requests of the entries that follow say.
func (b *Builder) Sent(sent journal.Sent) *Builder {
	b.template.Rare = nil
	if sent != (journal.Sent{}) {
		b.template.Rare = &journal.Rare{Sent: sent}
	}
	return b
}

// Location sets where the last entry was redirected to.
func (b *Builder) Location(to string) *Builder {
	return b.With(func(e *journal.Entry) {
		more := e.More()
		more.Location = to
		e.Rare = &more
	})
}

// Conn puts the entries that follow on one connection; 0 gives each its own again.
func (b *Builder) Conn(n uint64) *Builder { b.pinned = n; return b }

// Attempt adds an exchange that arrived at, took so long and was answered with status.
func (b *Builder) Attempt(at, took time.Duration, status int) *Builder {
	e := b.template
	e.At, e.Took, e.Status = at, took, status
	if e.Conn = b.pinned; e.Conn == 0 {
		b.conn++
		e.Conn = 1_000_000 + b.conn // out of the way of numbers that tests choose
	}
	b.entries = append(b.entries, e)
	return b
}

// Cut adds an exchange that ended without a status line: reset, or closed.
func (b *Builder) Cut(at, took time.Duration) *Builder {
	return b.Attempt(at, took, 0).With(func(e *journal.Entry) { e.Cut = true })
}

// Left adds an exchange that the client gave up on after so long.
func (b *Builder) Left(at, after time.Duration) *Builder {
	return b.Attempt(at, after, 0).With(func(e *journal.Entry) { e.Gone = at + after })
}

// Retries adds one attempt after the other, each answered with status after a millisecond, with these waits between.
func (b *Builder) Retries(at time.Duration, status int, waits ...time.Duration) *Builder {
	const took = time.Millisecond
	b.Attempt(at, took, status)
	for _, w := range waits {
		at += took + w
		b.Attempt(at, took, status)
	}
	return b
}

// RetryAfter sets the header that the last entry was answered with.
func (b *Builder) RetryAfter(value string) *Builder {
	return b.With(func(e *journal.Entry) { e.RetryAfter = value })
}

// With changes the last entry.
func (b *Builder) With(change func(*journal.Entry)) *Builder {
	change(&b.entries[len(b.entries)-1])
	return b
}

// Entries returns the history in order of arrival, numbered from 1.
func (b *Builder) Entries() []journal.Entry {
	entries := slices.Clone(b.entries)
	slices.SortStableFunc(entries, func(x, y journal.Entry) int { return int(x.At - y.At) })
	for i := range entries {
		entries[i].Seq = uint64(i + 1)
	}
	return entries
}
