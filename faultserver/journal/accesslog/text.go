package accesslog

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

// field cuts the next word off, blanks before it left out.
func field(s []byte) (word, rest []byte) {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	if i := bytes.IndexByte(s, ' '); i >= 0 {
		return s[:i], s[i:]
	}
	return s, nil
}

// quoted cuts off a value in double quotes; a backslash escapes the character behind it. s begins with the quote.
func quoted(s []byte) (inside, rest []byte, ok bool) {
	if len(s) < 2 || s[0] != '"' {
		return nil, s, false
	}
	for i := 1; i < len(s); i++ {
		j := bytes.IndexAny(s[i:], `"\`)
		if j < 0 {
			return nil, s, false
		}
		if i += j; s[i] == '"' {
			return s[1:i], s[i+1:], true
		}
		i++
	}
	return nil, s, false
}

// value cuts off a word, or what stands in quotes. A quote that nothing ends takes all of the rest.
func value(s []byte) (word, rest []byte) {
	if len(s) == 0 || s[0] != '"' {
		return field(s)
	}
	if word, rest, ok := quoted(s); ok {
		return word, rest
	}
	return s[1:], nil
}

// present is nil for what logs write where there is nothing.
func present(s []byte) []byte {
	if len(s) == 0 || len(s) == 1 && s[0] == '-' {
		return nil
	}
	return s
}

// number reads a count, -1 where there is none.
func number(s []byte) int64 {
	n, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// headerName makes the header's name of nginx's variable: http_x_api_key is x-api-key.
func headerName(variable string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(variable), "http_"), "_", "-")
}

// host takes the port off an address, and all but the first off a list as in X-Forwarded-For. Ports change from
// connection to connection, so that with one nobody would ever come twice.
func host(s []byte) []byte {
	if i := bytes.IndexByte(s, ','); i >= 0 {
		s = s[:i]
	}
	s = bytes.TrimSpace(s)
	if len(s) > 0 && s[0] == '[' {
		if i := bytes.IndexByte(s, ']'); i > 0 {
			return s[1:i]
		}
	}
	if i := portOf(s); i > 0 {
		return s[:i]
	}
	return s
}

// portOf finds the colon before a port, 0 if there is none. Two colons make an IPv6 address, which has none unless it
// stands in brackets.
func portOf(s []byte) int {
	i := bytes.LastIndexByte(s, ':')
	if i <= 0 || bytes.IndexByte(s, ':') != i {
		return 0
	}
	if _, ok := digits(s[i+1:]); !ok {
		return 0
	}
	return i
}

// address reports whether s is an IP address.
func address(s []byte) bool {
	_, err := netip.ParseAddr(string(s))
	return err == nil
}
