package interop

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// sleepers is how many tests go on at a time. Most of their time goes by while clients wait, which takes no core. Those whose
// subject is how fast something happens run before them, each by itself.
const sleepers = "12"

func TestMain(m *testing.M) {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		n := sleepers
		if *whole {
			n = strconv.Itoa(atOnce)
		}
		_ = flag.Set("test.parallel", n) // a number
	}
	os.Exit(m.Run())
}
