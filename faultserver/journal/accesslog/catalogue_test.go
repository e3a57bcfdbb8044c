package accesslog_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// TestCatalogue holds every format to what all must have: an example that decodes, also where the format is not named, a
// source, a place in the order of trying, and a fuzzer.
func TestCatalogue(t *testing.T) {
	fuzzers, err := os.ReadFile("fuzz_test.go")
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[int]string{}
	for _, f := range accesslog.Formats.All() {
		t.Run(f.Name, func(t *testing.T) {
			if f.Summary == "" || f.Source == "" {
				t.Error("no summary or no source")
			}
			if other := ranks[f.Rank]; other != "" {
				t.Errorf("tried together with %s", other)
			}
			ranks[f.Rank] = f.Name
			if !strings.Contains(string(fuzzers), `fuzz(f, "`+f.Name+`")`) {
				t.Error("no fuzzer in fuzz_test.go")
			}
			for _, forced := range []string{"", f.Name} {
				entries, s := read(t, accesslog.Options{Format: forced}, text("example", f.Example))
				if len(entries) == 0 || s.Lines() > 0 || !slices.Equal(s.Files[0].Formats, []string{f.Name}) {
					t.Errorf("format %q: %d entries, malformed %q, found to be %q", forced, len(entries), s.Malformed, s.Files[0].Formats)
				}
				for _, e := range entries {
					if e.Method == "" || e.Path == "" || e.Client == "" || e.Client == "-" || (e.Status == 0) != (e.Gone > 0) {
						t.Errorf("half an entry: %+v", e)
					}
				}
			}
			others := accesslog.Formats.Names()
			for _, other := range others {
				if entries, _, err := try(accesslog.Options{Format: other}, text("example", f.Example)); other != f.Name && err == nil && !(f.Name == "caddy" && other == "json") {
					t.Errorf("%s takes it too, for %+v", other, entries)
				}
			}
		})
	}
	if len(ranks) < 9 {
		t.Errorf("only %d formats", len(ranks))
	}
}
