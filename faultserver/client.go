package faultserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strings"
)

// account leaves out of an Authorization value what is made anew for each request: schemes that sign would else make
// every attempt look like another client.
func account(authorization string) string {
	for scheme, name := range map[string]string{"AWS4-HMAC-SHA256 ": "Credential=", "Digest ": "username="} {
		if strings.HasPrefix(authorization, scheme) {
			if _, rest, ok := strings.Cut(authorization, name); ok {
				return scheme + rest[:strings.IndexAny(rest+",", "/,")]
			}
		}
	}
	return authorization
}

// hash returns a keyed hash of a secret. The key is made anew for each server, so that nobody can tell from a journal
// what the secret was, nor whether two journals saw the same.
func (s *Server) hash(secret string) uint64 {
	h := hmac.New(sha256.New, s.secretKey[:])
	h.Write([]byte(secret))
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// client names who sent a request that carries a secret, or none, and hashes the secret: 0 if there is none.
func (s *Server) client(r *http.Request, c *connection, secret string) (name string, auth uint64) {
	if secret != "" {
		auth = max(1, s.hash(secret))
	}
	switch {
	case c.client != "":
		return c.client, auth
	case s.clientHeader != "" && r.Header.Get(s.clientHeader) != "":
		return bounded(r.Header.Get(s.clientHeader)), auth
	case c.cert != "":
		return c.cert, auth
	case secret == "":
		return c.host, auth
	}
	if lasting := account(secret); lasting != secret {
		return keyName(s.hash(lasting)), auth
	}
	return keyName(auth), auth
}

// keyName is how a client appears that is known by its credentials only.
func keyName(hash uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], hash)
	return "key:" + hex.EncodeToString(b[:4])
}
