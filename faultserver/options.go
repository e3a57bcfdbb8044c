package faultserver

import (
	"log"
	"net/http"
	"net/url"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// DefaultBodyLimit is the largest body that a server without an upstream reads, in bytes.
const DefaultBodyLimit = 64 << 20

// Option changes how New makes a server.
type Option func(*Server)

// WithStub sets the answer to requests that no fault answers.
func WithStub(stub Stub) Option { return func(s *Server) { s.stub = stub } }

// WithUpstream passes requests that no fault answers to the API at u, in place of the stub. The server speaks to no
// other host. See ParseUpstream.
func WithUpstream(u *url.URL) Option { return func(s *Server) { s.upstream = u } }

// WithTransport sets how the upstream is reached. The default keeps many connections and uses no proxy.
func WithTransport(t http.RoundTripper) Option { return func(s *Server) { s.transport = t } }

// WithSeed sets the seed of all randomness, default 0: the same seed gives each sequence number, or each
// client's n-th hit of a rule that counts per client, the same outcome.
func WithSeed(seed uint64) Option { return func(s *Server) { s.seed = seed } }

// WithJournal records to j, in place of a journal of the server's own, and tells the time by its clock: delays,
// schedules, limits and dates.
func WithJournal(j *journal.Journal) Option { return func(s *Server) { s.journal = j } }

// WithClientHeader names the header that tells clients apart, where a listener does not.
func WithClientHeader(name string) Option { return func(s *Server) { s.clientHeader = name } }

// WithBodyLimit sets the largest body that is read, in bytes; larger ones are answered 413. With an upstream it only
// bounds what is read of a body that a fault answers.
func WithBodyLimit(n int64) Option { return func(s *Server) { s.bodyLimit = n } }

// WithErrorLog sets where panics and connection errors are told; the default is the standard logger, nil is nowhere.
func WithErrorLog(l *log.Logger) Option { return func(s *Server) { s.errorLog = l } }

// AllowRemote lets the server listen on addresses that other machines can reach.
func AllowRemote() Option { return func(s *Server) { s.remote = true } }
