package interop

import (
	"flag"
	"os"
	"testing"
)

// sleepers is how many tests go on at a time. Most of their time goes by while clients wait, which takes no core. Those whose
// subject is how fast something happens run before them, each by itself.
const sleepers = "12"

func TestMain(m *testing.M) {
	flag.Parse()
	atOnce := flag.Lookup("test.parallel")
	if atOnce.Value.String() == atOnce.DefValue {
		_ = flag.Set("test.parallel", sleepers) // a number
	}
	os.Exit(m.Run())
}
