package playbook

import "strings"

// endpoint is what requests are counted for.
type endpoint struct{ method, path string }

// Template puts {id} in the place of the segments of a path that name one thing out of many: numbers, UUIDs, hashes and
// long words with digits in them.
func Template(path string) string {
	if !strings.ContainsAny(path, "0123456789") {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if isID(s) {
			segments[i] = "{id}"
		}
	}
	return strings.Join(segments, "/")
}

func isID(s string) bool {
	digits, hex, other := 0, 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '-':
			hex++
		default:
			other++
		}
	}
	switch {
	case digits == 0:
		return false
	case hex+other == 0:
		return true // a number
	case other == 0 && len(s) >= 8:
		return true // a hash or a UUID
	default:
		return digits >= 3 && len(s) >= 10 // evt_0001234, a1B2c3D4e5
	}
}
