package assert

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// mostWitnesses is how many lines a failure text shows; a storm has thousands.
const mostWitnesses = 12

// witnessTable lists exchanges one a line, aligned, with the wait since the attempt before in the same call.
func witnessTable(entries []journal.Entry, calls []Call) string {
	waits := waitsBefore(entries, calls)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  seq\tat\twaited\tclient\trequest\tanswer\tfault")
	for i, e := range entries {
		if i == mostWitnesses && len(entries) > mostWitnesses+1 {
			fmt.Fprintf(w, "  and %d more\n", len(entries)-i)
			break
		}
		waited := "-"
		if d, ok := waits[e.Seq]; ok {
			waited = millis(d)
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Seq, millis(e.At), waited, printable(e.Client), printable(e.Request()),
			printable(answer(e)), e.Fault)
	}
	_ = w.Flush() // into memory
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// waitsBefore finds the wait before each of the entries, by sequence number.
func waitsBefore(entries []journal.Entry, calls []Call) map[uint64]time.Duration {
	wanted := make(map[uint64]bool, len(entries))
	for _, e := range entries {
		wanted[e.Seq] = true
	}
	waits := map[uint64]time.Duration{}
	for i := range calls {
		for k := 1; k < len(calls[i].Attempts); k++ {
			if seq := calls[i].Attempts[k].Seq; wanted[seq] {
				waits[seq] = calls[i].Gap(k - 1)
			}
		}
	}
	return waits
}

// answer is what the client got, in a word or two.
func answer(e journal.Entry) string {
	text := "none"
	if e.Status != 0 {
		text = strconv.Itoa(e.Status)
	}
	switch {
	case e.Open:
		text = "still open"
	case e.Gone > 0:
		text += ", client left"
	case e.Cut:
		text += ", cut off"
	}
	if e.RetryAfter != "" {
		text += ", Retry-After: " + e.RetryAfter
	}
	return text
}

// millis prints a time as people compare waits: whole milliseconds below ten seconds, then tenths of a second.
func millis(d time.Duration) string {
	if d.Abs() < 10*time.Second {
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// printable keeps what a client sent from moving the cursor or the columns.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
