package faultserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// guard finds out who must not even learn what there is: web pages, and whoever lacks the token.
func (c *Control) guard(r *http.Request) error {
	switch {
	case !c.guarded && !local(r.Host):
		// A page can have its own name resolve to this machine (DNS rebinding); it cannot change what it calls the host.
		return refuse(http.StatusForbidden,
			"Host %q is not this machine; ask for localhost, or set a token, which allows any name", r.Host)
	case crossSite(r):
		return refuse(http.StatusForbidden, "the request comes from a web page of another site; this API is for programs")
	case c.guarded:
		return c.authenticate(r)
	}
	return nil
}

// local reports whether a Host header names the loopback interface.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}

// crossSite reports whether a browser says that it acts for a page from elsewhere. Programs send neither header.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}

// authenticate wants the token. Hashes are compared, so that not even the token's length can be timed.
func (c *Control) authenticate(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	known := subtle.ConstantTimeCompare(sum[:], c.token[:]) == 1
	if known && strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	challenge, what := `Bearer realm="retrygate"`, "this API wants a token; send Authorization: Bearer TOKEN"
	if token != "" {
		challenge, what = challenge+`, error="invalid_token"`, "this is not the token; send Authorization: Bearer TOKEN"
	}
	e := refuse(http.StatusUnauthorized, "%s", what)
	e.header = http.Header{"Www-Authenticate": {challenge}}
	return e
}
