package assert_test

import (
	"bytes"
	"flag"
	"os"
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
