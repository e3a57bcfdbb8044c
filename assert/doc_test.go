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
