package faultserver

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Server answers requests as the plan and the backend say, and journals each of them. It is safe for concurrent use.
// Make it with New; Close it.
type Server struct {
	journal      *journal.Journal
	seed         uint64
	clientHeader string
	callHeader   string
	calibrate    bool // keep hashes of headers that may name calls
	remote       bool // may listen beyond loopback
	bodyLimit    int64
	errorLog     *log.Logger
	secretKey    [32]byte
	streamField  streamField

	ca          *devca.CA // nil: it speaks plain HTTP
	clientCerts ClientCertificates
	configs     map[devca.Problem]*tls.Config // by what is wrong with the certificate

	stub      Stub
	upstream  *url.URL // nil: the stub answers
	transport http.RoundTripper
	backend   backend

	program     atomic.Pointer[program]
	run         sync.RWMutex // read-held while a request takes its program and its place in the journal: both are of one run
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
	s := &Server{bodyLimit: DefaultBodyLimit, errorLog: log.Default(), idle: make(chan struct{}, 1), streamField: newStreamField()}
	_, _ = rand.Read(s.secretKey[:]) // never fails
	for _, o := range options {
		o(s)
	}
	if s.journal == nil {
		s.journal = journal.New(0)
	}
	s.base, s.cancel = context.WithCancel(clock.With(context.Background(), s.journal.Clock()))
	if s.errorLog == nil {
		s.errorLog = log.New(io.Discard, "", 0)
	}
	s.prepareTLS()
	s.backend = newCanned(s.stub)
	if s.upstream != nil {
		s.backend = newRelay(s)
	}
	none, _ := Plan{}.compile() // nothing can be wrong with it
	s.program.Store(none)
	return s
}

// Use puts a plan in the place of the one before, with all counters at zero, from the next request on, on open
// connections too. The error lists everything that is wrong with the plan; then the one before stays.
func (s *Server) Use(p Plan) error {
	next, err := s.compile(p)
	if err != nil {
		return err
	}
	s.replace(next)
	return nil
}

// replace puts a program to use.
func (s *Server) replace(next *program) {
	s.run.Lock() // Reset must not put back what it found before
	defer s.run.Unlock()
	s.program.Store(next)
}

// Reset starts the run anew, with the plan in use: the journal is empty, the clock, all counters and schedules begin
// again. Requests still going on belong to the run before, and leave no trace in this one.
func (s *Server) Reset() {
	for {
		now := s.program.Load()
		next, err := now.plan.compile()
		if err != nil {
			panic(err) // it compiled before
		}
		if s.begin(now, next) {
			return
		}
	}
}

// begin starts the run anew with another program; false if the one in use is not what it was. A nil before is any.
func (s *Server) begin(before, next *program) bool {
	s.run.Lock()
	defer s.run.Unlock()
	if before != nil && s.program.Load() != before {
		return false
	}
	s.journal.Reset()
	s.program.Store(next)
	return true
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
