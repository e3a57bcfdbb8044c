package assert_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/assert"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestDocGolden(t *testing.T) {
	starter, err := assert.LoadContract("starter.yaml", assert.Init())
	if err != nil {
		t.Fatal(err)
	}
	for file, c := range map[string]*assert.Contract{"testdata/strict.md": assert.Strict(), "testdata/starter.md": starter} {
		var got bytes.Buffer
		if err := c.Doc(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs; run go test ./assert -update and look at the difference. Got\n%s", file, &got)
		}
	}
}

// Each profile makes a first contract that reads, contradicts nothing, and says what the profile says.
func TestInitFromEveryProfile(t *testing.T) {
	for _, p := range assert.Profiles.All() {
		text, err := assert.InitFrom(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := assert.LoadContract("contract.yaml", text)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if found := c.Lint(); c.Profile != p.Name || c.Name != "our-api" || len(found) > 0 {
			t.Errorf("%s: profile %s, name %s, %q", p.Name, c.Profile, c.Name, found)
		}
		var page bytes.Buffer
		if err := c.Doc(&page); err != nil || !bytes.Contains(page.Bytes(), []byte("## What the server team does")) {
			t.Errorf("%s: %v\n%s", p.Name, err, &page)
		}
	}
	if _, err := assert.InitFrom("awz"); err == nil {
		t.Error("no such profile")
	}
}

// TestDocNamesTheAgreedWaits reads the sentence about waits as people do: in the unit that fits, and no figures where the
// contract leaves the growth open.
func TestDocNamesTheAgreedWaits(t *testing.T) {
	for file, want := range map[string]string{
		"backoff: {initial: 2s, growth: 1.3, jitter: any}":             "",
		"backoff: {initial: 1s, multiplier: 1, max: 1s, jitter: none}": "The waits are therefore 1 s, 1 s, 1 s, then",
		"backoff: {schedule: [150s, 1h, 90m], jitter: none}":           "The waits are therefore 2.5 min, 1 h, 1.5 h, then",
	} {
		c, err := assert.LoadContract("contract.yaml", []byte("name: a\nprofile: strict\nattempts: {max: 4, within: 9h}\n"+file))
		if err != nil {
			t.Fatal(err)
		}
		var doc strings.Builder
		if err := c.Doc(&doc); err != nil {
			t.Fatal(err)
		}
		if got := doc.String(); !strings.Contains(got, want) || want == "" && strings.Contains(got, "therefore") {
			t.Errorf("%s: want %q in\n%s", file, want, got)
		}
	}
}
