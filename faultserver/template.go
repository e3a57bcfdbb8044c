package faultserver

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// variable is what a path template may have in braces, before the pattern.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// escape is a byte of a path in hex.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// neverSent says why no path of a request can meet a template; "" if one can, or if mux has something to say about it.
func neverSent(template string) string {
	rest := template
	for rest != "" {
		text, behind, braced := strings.Cut(rest, "{")
		if why := neverIn(text); why != "" {
			return why
		}
		if !braced {
			break
		}
		inside, end := braces(behind)
		if end < 0 {
			break
		}
		name, _, _ := strings.Cut(inside, ":")
		switch {
		case strings.HasSuffix(name, "..."):
			base := strings.TrimSuffix(name, "...")
			return fmt.Sprintf("a variable takes one segment; for the rest of the path write {%s:.*}", base)
		case name != "" && !variable.MatchString(name):
			return fmt.Sprintf("{%s} is no variable; write {name} or {name:pattern}", name)
		}
		rest = behind[end+1:]
	}
	return ""
}

// braces returns what stands before the brace that closes, and where that is; -1 if there is none.
func braces(s string) (inside string, end int) {
	depth := 1
	for i, r := range s {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return s[:i], i
		}
	}
	return s, -1
}

// neverIn says which character of a text no request has in its path as it stands.
func neverIn(text string) string {
	if strings.Contains(escape.ReplaceAllString(text, ""), "%") {
		return "% begins an escape of two hex digits, such as %20 or %25"
	}
	for _, r := range text {
		switch {
		case r == '?':
			return "a path ends where the query begins; match the query with queries: {name: value}"
		case r == '#':
			return "a fragment is never sent; leave it out"
		case r > 0x7e || r <= ' ' || strings.ContainsRune("\"<>\\^`|", r):
			return fmt.Sprintf("requests carry %q escaped; write %s", r, url.PathEscape(string(r)))
		}
	}
	return ""
}

// sameHeader finds a header that is named twice, in different case; "" if there is none.
func sameHeader(headers map[string]string) string {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if name = http.CanonicalHeaderKey(name); seen[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}

// neverCarried says why no request is seen with a header of this name and value; "" if one can be.
func neverCarried(name, value string) string {
	switch http.CanonicalHeaderKey(name) {
	case "Host":
		return "no header rule sees Host; write match: {host: " + value + "}"
	case "Transfer-Encoding", "Trailer":
		return "no rule sees " + name + ": it is about how the request is carried, and ends with its connection"
	}
	switch {
	case !fault.ValidName(name):
		return fmt.Sprintf("%q is no header name; it takes letters, digits and hyphens", name)
	case !fault.ValidValue(value):
		return fmt.Sprintf("the value of %s has a character that no header may hold", name)
	case strings.TrimSpace(value) != value:
		return fmt.Sprintf("the value of %s begins or ends with a space, and values are read without", name)
	}
	return ""
}
