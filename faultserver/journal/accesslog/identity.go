package accesslog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// defaultClient is who a client is unless Options say otherwise.
var defaultClient = []string{"remote", "user"}

// checkClient finds parts of an identity that no log has.
func checkClient(parts []string) error {
	for _, part := range parts {
		name, isHeader := strings.CutPrefix(part, "header:")
		if part != "remote" && part != "user" && (!isHeader || name == "") {
			return fmt.Errorf("accesslog: client %q: want remote, user or header:NAME%s", part, registry.Suggest(part, defaultClient))
		}
	}
	return nil
}

// maker turns records into entries. Strings that come again and again are kept once.
type maker struct {
	client []string
	crowd  *crowd // nil: who the client is was said, and nothing else counts
	names  map[string]string
	text   []byte // scratch
}

// mostNames bounds the strings that are kept for being used again.
const mostNames = 1 << 15

func (m *maker) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := m.names[string(b)]; ok {
		return s
	}
	if m.names == nil || len(m.names) >= mostNames {
		m.names = make(map[string]string, 1024)
	}
	s := string(b)
	m.names[s] = s
	return s
}

// longestText is the most that is kept of a path or a query; longer ones end with their hash.
const longestText = 2048

func clip(b []byte) []byte {
	if len(b) <= longestText {
		return b
	}
	return fmt.Appendf(append([]byte(nil), b[:longestText-24]...), "...(%016x)", sum(b))
}

// entry makes the entry of r, all but its time.
func (m *maker) entry(r *record, e *journal.Entry) {
	if r.entry != nil {
		*e = *r.entry
		return
	}
	path, query := split(r.target)
	if r.query != nil {
		query = r.query
	}
	*e = journal.Entry{
		Took: r.took, Client: m.name(r), Method: m.intern(r.method), Path: m.intern(clip(path)), Query: m.intern(clip(m.redact(query))),
		Proto: m.intern(r.proto), Key: hashed(r.key), Call: string(clip(r.call)), Status: r.status, RetryAfter: m.intern(r.retryAfter), Upstream: r.upstream,
		Cut: !r.left && (r.cut || r.status == 0),
	}
	switch {
	case r.body != nil:
		e.BodySum, e.BodyLen, e.BodyWhole = sum(r.body), max(0, r.length), true
	case r.length == 0, !hasBody(e.Method):
		e.BodyWhole = true
	default: // something was sent, and nobody saw what
		e.BodyLen, e.Early = max(0, r.length), true
	}
}

// hasBody reports whether requests of this method carry something that a log does not show.
func hasBody(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "DELETE", "TRACE":
		return false
	default:
		return true
	}
}

// name says who sent r: the parts of the identity that the log knows.
func (m *maker) name(r *record) string {
	m.text = m.text[:0]
	for _, part := range m.client {
		var value []byte
		switch part {
		case "remote":
			value = host(present(r.remote))
		case "user":
			value = r.user
		default:
			value = m.fingerprint(r, strings.TrimPrefix(part, "header:"))
		}
		if len(value) == 0 {
			continue
		}
		if len(m.text) > 0 {
			m.text = append(m.text, ' ')
		}
		m.text = append(m.text, value...)
	}
	if len(m.text) == 0 {
		return "-"
	}
	if m.crowd != nil {
		m.text = m.crowd.tell(m.text, r.valueOf(agentHeader))
	}
	return m.intern(clip(m.text))
}

// valueOf is what the line said of a header that was to be kept.
func (r *record) valueOf(name string) []byte {
	for _, h := range r.headers {
		if strings.EqualFold(h.name, name) {
			return h.value
		}
	}
	return nil
}

// fingerprint stands for a header's value, which may be a secret: the same for the same value.
func (m *maker) fingerprint(r *record, name string) []byte {
	if value := r.valueOf(name); len(value) > 0 {
		return append(append([]byte(strings.ToLower(name)), ':'), hashed(value)...)
	}
	return nil
}

// hashed is the name of something secret: 12 hex digits of its SHA-256.
func hashed(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	h := sha256.Sum256(value)
	return hex.EncodeToString(h[:6])
}

// sum is the hash that entries hold of a body; never 0, which stands for none.
func sum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return max(1, h.Sum64())
}

// split takes scheme, host and fragment off a target, and its path and query apart.
func split(target []byte) (path, query []byte) {
	if i := bytes.Index(target, []byte("://")); i > 0 && i < 8 {
		target = target[i+3:]
		if j := bytes.IndexAny(target, "/?"); j >= 0 {
			target = target[j:]
		} else {
			target = []byte("/")
		}
	}
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	path, query, _ = bytes.Cut(target, []byte("?"))
	return path, query
}

// secrets are words that the names of parameters contain whose values nobody may see.
var secrets = []string{"token", "key", "secret", "pass", "pwd", "sig", "auth", "code", "session", "sid", "credential", "jwt", "otp", "email", "phone"}

// redact puts a hash in the place of each value that may be a secret, so that equal ones stay equal.
func (m *maker) redact(query []byte) []byte {
	if len(query) == 0 || len(query) == 1 && query[0] == '-' {
		return nil
	}
	lower := bytes.ToLower(query)
	clean := true
	for _, word := range secrets {
		clean = clean && !bytes.Contains(lower, []byte(word))
	}
	if clean {
		return query
	}
	var out []byte
	for i, pair := range bytes.Split(query, []byte("&")) {
		if i > 0 {
			out = append(out, '&')
		}
		name, value, ok := bytes.Cut(pair, []byte("="))
		if ok && len(value) > 0 && secret(name) {
			out = append(append(append(out, name...), "=~"...), hashed(value)...)
			continue
		}
		if !ok && secret(pair) { // a bare word may be a secret itself
			out = append(append(out, '~'), hashed(pair)...)
			continue
		}
		out = append(out, pair...)
	}
	return out
}

func secret(name []byte) bool {
	lower := strings.ToLower(string(name))
	for _, word := range secrets {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// times puts e into a run that began at a wall clock.
func times(e *journal.Entry, arrival, began int64, left bool) {
	e.At = time.Duration(arrival - began)
	if left {
		e.Gone = max(1, e.At+e.Took)
	}
}
