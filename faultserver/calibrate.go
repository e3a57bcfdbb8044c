package faultserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// WithCallHeader names a header that the clients give all attempts of a call alike, and different calls differently. It
// counts before all that the server knows by itself but CallHeader. Empty, which is the default, is none.
func WithCallHeader(name string) Option {
	return func(s *Server) { s.callHeader = http.CanonicalHeaderKey(name) }
}

// Calibrate has the journal keep hashes of the headers that may name calls (journal.Sent.Marks), so that assert.CallHeader
// can find the one that does: for clients whose calls are known already. They are those with names that end in -Id, -Key or
// -Token, the first eight by name.
func Calibrate() Option { return func(s *Server) { s.calibrate = true } }

// mostMarks is how many headers of one request are hashed.
const mostMarks = 8

// marks hashes the headers that may name a call. The hashes are keyed: some of them may be secrets.
func (s *Server) marks(header http.Header) string {
	var names []string
	for name := range header {
		if candidate(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var marks []string
	for _, name := range names[:min(mostMarks, len(names))] {
		marks = append(marks, name+"="+strconv.FormatUint(s.hash(name+"\x00"+header.Get(name)), 16))
	}
	return strings.Join(marks, " ")
}

// candidate reports whether a header may name calls, and is not known to do so or to be a credential.
func candidate(name string) bool {
	s := signs[name]
	if s.call > 0 || s.credential > 0 || len(name) > longest {
		return false
	}
	for _, end := range []string{"-Id", "-Key", "-Token"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
