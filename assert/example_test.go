package assert_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// looping is a client that sends the same request again 3 ms after every 400.
func looping() []journal.Entry {
	var entries []journal.Entry
	for i := range 3 {
		entries = append(entries, journal.Entry{
			Seq: uint64(i + 1), At: time.Duration(i) * 4 * time.Millisecond, Took: time.Millisecond,
			Client: "app", Method: "POST", Path: "/driver/status", BodySum: 7, BodyWhole: true, Conn: 1, Status: 400,
		})
	}
	return entries
}

func ExampleCalls() {
	for _, call := range assert.Calls(looping(), assert.Key{}) {
		fmt.Printf("%s %s: %d attempts, %v before the second\n", call.Client, call.Attempts[0].Path, len(call.Attempts), call.Gap(0))
	}
	// Output: app /driver/status: 3 attempts, 3ms before the second
}

// With Gomega: Expect(server.Journal()).To(assert.Keep(assert.NoRetry4xx{})).
func ExampleKeep() {
	keep := assert.Keep(assert.NoRetry4xx{})
	if kept, err := keep.Match(looping()); err == nil && !kept {
		text, _, _ := strings.Cut(keep.FailureMessage(nil), "\nFix:")
		fmt.Print(text)
	}
	// Output:
	// The client broke no-retry-4xx: attempt 2 came 3 ms after a 400; the contract says never; 1 more followed
	//
	//   seq  at    waited  client  request              answer  fault
	//   1    0 ms  -       app     POST /driver/status  400
	//   2    4 ms  3 ms    app     POST /driver/status  400
}

func ExampleJudge() {
	calls := assert.Calls(looping(), assert.Key{OneCall: true})
	for _, result := range assert.Judge(assert.Strict(), []string{"no-retry-4xx", "retries-transient"}, calls) {
		fmt.Printf("%s: %s\n", result.Clause, result.Verdict)
	}
	// Output:
	// no-retry-4xx: fail
	// retries-transient: not-exercised
}

func ExampleLoadContract() {
	_, err := assert.LoadContract("contract.yaml", []byte(`
attempts: {max: 0}
responses: {503: bakoff}
clauses: {retry-capp: off}
`))
	fmt.Println(err)
	// Output:
	// contract.yaml:2:17: max: 0 attempts is too few; the first one counts, so 1 means no retry
	// contract.yaml:3:18: unknown behaviour "bakoff"; did you mean backoff?
	// contract.yaml:4:11: unknown clause "retry-capp"; did you mean retry-cap?
}

func ExampleContract_Lint() {
	contract, err := assert.LoadContract("contract.yaml", []byte(`
attempts: {max: 4, within: 1s}
backoff: {initial: 2s, multiplier: 2, jitter: none}
`))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, contradiction := range contract.Lint() {
		fmt.Println(contradiction)
	}
	// Output:
	// attempts.max (line 2) 4 attempts cannot all fit into attempts.within (line 2) 1s: the waits of backoff.initial (line 3) 2s alone take 14s
}
