package faultserver

import (
	"context"
	"crypto/rand"
	"io"
	"log"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Server answers requests as the plan and the backend say, and journals each of them. It is safe for concurrent use.
// Make it with New; Close it.
type Server struct {
	journal      *journal.Journal
	seed         uint64
	clientHeader string
	remote       bool // may listen beyond loopback
	bodyLimit    int64
	errorLog     *log.Logger
	secretKey    [32]byte

	stub      Stub
	upstream  *url.URL // nil: the stub answers
	transport http.RoundTripper
	backend   backend

	program     atomic.Pointer[program]
	connections atomic.Uint64

	base   context.Context // ends when the server is closed
	cancel context.CancelFunc
	busy   atomic.Int64  // exchanges going on
	idle   chan struct{} // has a token when busy came back to 0

	mu      sync.Mutex
	closed  bool
	servers []listening
	serving sync.WaitGroup
}

// backend answers what no fault answers.
type backend interface {
	answer(x *recorder, w http.ResponseWriter, r *http.Request)
	close()
}

// New makes a server without rules: it answers every request with the stub, unless options say otherwise.
func New(options ...Option) *Server {
	s := &Server{bodyLimit: DefaultBodyLimit, errorLog: log.Default(), idle: make(chan struct{}, 1)}
	_, _ = rand.Read(s.secretKey[:]) // never fails
	s.base, s.cancel = context.WithCancel(context.Background())
	for _, o := range options {
		o(s)
	}
	if s.journal == nil {
		s.journal = journal.New(0)
	}
	if s.errorLog == nil {
		s.errorLog = log.New(io.Discard, "", 0)
	}
	s.backend = newCanned(s.stub)
	if s.upstream != nil {
		s.backend = newRelay(s)
	}
	s.program.Store(&program{})
	return s
}

// Use puts a plan in the place of the one before, with all counters at zero, from the next request on, on open
// connections too. The error lists everything that is wrong with the plan; then the one before stays.
func (s *Server) Use(p Plan) error {
	next, err := p.compile()
	if err != nil {
		return err
	}
	s.program.Store(next)
	return nil
}

// Journal returns the record of all exchanges.
func (s *Server) Journal() *journal.Journal { return s.journal }

// Fired returns, for each rule of the plan in use, how often its fault acted.
func (s *Server) Fired() map[string]uint64 {
	fired := map[string]uint64{}
	for _, r := range s.program.Load().rules {
		fired[r.name] = r.fired.Load()
	}
	return fired
}
