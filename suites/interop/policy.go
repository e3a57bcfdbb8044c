package interop

import (
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
)

// policyCase is the case whose waits show a client's policy best.
const policyCase = "503"

// mostWaits bounds how many waits are written out.
const mostWaits = 4

// policy says in a few words what the waits of calls show of the client's retry policy.
func policy(calls []assert.Call) string {
	waits := infer.Waits(assert.Chains(calls))
	if len(waits) == 0 {
		return "no retry"
	}
	words := make([]string, 0, mostWaits+1)
	for i, w := range waits {
		if i == mostWaits {
			words = append(words, "…")
			break
		}
		words = append(words, span(w.Min, w.Max))
	}
	return strings.Join(words, ", ")
}

// span is a range of waits, one number where they hardly differ.
func span(least, most time.Duration) string {
	if most-least <= max(30*time.Millisecond, least/50) {
		return seconds(least) + " s"
	}
	return seconds(least) + " to " + seconds(most) + " s"
}

// seconds tells hundredths at most.
func seconds(d time.Duration) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(d.Seconds(), 'f', 2, 64), "0"), ".")
}
