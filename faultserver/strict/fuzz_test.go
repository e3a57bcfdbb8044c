package strict_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// FuzzDecode holds the decoder to its promises on any input: it never panics, ends soon, and every error has a place in
// the file and one line.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "# c", "name: x\nsummary: |\n  a\n  b\n", "count: 3\nshare: .5\non: true\nwait: 1m30s", "waits: {first: -1s, max: 2s}",
		"nested:\n- a: x\n  b: y\n- {a: z}", "headers: {A: x, A: y}", "name: &x a\nsummary: *x", "<<: {}", "--- \n...\n", "{\"list\": [1, 2]}",
		"raw: [[[{a: [b]}]]]", "? a\n: b", "name: \"\\u00e9\\x41\"", "words: [a, 1]", "later: ~\nlevel: majr", "a:\n \tb: 1", "raw: !!binary aGk=",
		"'a': 1\n\"b\": 2", "name: >-\n  x\n\n  y\n", "- - - a", "list:\n  -\n  -", "\xff", "name: a\r\nsummary: b\r", "name: x # c\n#d",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		var r rich
		err := strict.Decode("f.yaml", data, &r)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("%d bytes took %v", len(data), took)
		}
		if err == nil {
			return
		}
		var all *strict.Errors
		if !errors.As(err, &all) || len(all.All) == 0 {
			t.Fatalf("not an *Errors: %v", err)
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
		last := strict.Error{}
		for _, one := range all.All {
			if one.Line < 1 || one.Column < 1 || one.Line > lines+1 {
				t.Errorf("no such place: %v", one)
			}
			if one.Line < last.Line || one.Line == last.Line && one.Column <= last.Column {
				t.Errorf("out of order: %v after %v", one, last)
			}
			if one.Msg == "" || strings.ContainsAny(one.Error(), "\n\r") {
				t.Errorf("not one line: %q", one.Error())
			}
			last = one
		}
	})
}
