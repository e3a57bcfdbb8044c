package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// A report is filled from results, concluded, and written in any format.
func Example() {
	attempts := []journal.Entry{
		{Seq: 1, Client: "c1", Method: "POST", Path: "/driver/status", Status: 400, Took: time.Millisecond},
		{Seq: 2, Client: "c1", Method: "POST", Path: "/driver/status", Status: 400, At: 4 * time.Millisecond},
	}
	calls := []assert.Call{{Client: "c1", Attempts: attempts}}
	broken := assert.Result{
		Clause: "my-clause", Verdict: assert.Fail, Witness: attempts,
		Detail: "attempt 2 came 3 ms after a 400; the contract says never",
	}
	r := report.Report{
		FailOn:   assert.Major,
		Contract: report.Contract{Name: "driver-status"},
		Clients:  []report.Client{{Name: "mine"}},
		Results:  []report.Result{report.NewResult("sustained-400", assert.Critical, broken, calls)},
	}
	r.Conclude()

	text, err := report.Formats.Get("text")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := text.Write(os.Stdout, r, report.Style{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// client    mine
	// contract  driver-status
	//
	// FAIL  my-clause (critical) in sustained-400
	//   attempt 2 came 3 ms after a 400; the contract says never
	//
	//      #seq        time       gap  client  request -> answer
	//        #1     0.000 s            c1      POST /driver/status -> 400
	//        #2     0.004 s    3.0 ms  c1      POST /driver/status -> 400
	//
	//   more  retrygate explain my-clause
	//
	// verdict: fail (exit 1): the client breaks 1 clause at level major or above.
}
