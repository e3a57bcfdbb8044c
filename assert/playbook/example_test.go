package playbook_test

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert/playbook"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Entries are added in order of arrival, from a log or a journal; the findings say who loops, and since when.
func Example() {
	v := playbook.New(playbook.Options{})
	for i := range 600 {
		v.Add(&journal.Entry{Seq: uint64(i + 1), At: time.Duration(i) * 100 * time.Millisecond, Client: "driver-7", Method: "POST", Path: "/driver/status", Status: 400})
	}
	f := v.Findings(playbook.Facts{Until: time.Minute})
	for _, c := range f.Accused {
		fmt.Printf("%s: %s; %d redundant requests\n", c.Name, c.Pattern, c.Redundant)
	}
	// Output:
	// driver-7: it looped once: it sends a failed request again 100 ms after each failure, without backoff, and never had another answer than 400; 599 redundant requests
}
