package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// tail shows each exchange as a line once it is over.
type tail struct {
	out   io.Writer
	paint report.Paint
	j     *journal.Journal
	quiet bool

	cursor *journal.Cursor
	early  map[uint64]bool // shown while it was still going on
}

func newTail(w *world, j *journal.Journal, quiet bool) *tail {
	return &tail{
		out: w.stdout, paint: report.Paint(w.style(w.stdout).Color), j: j, quiet: quiet, cursor: j.Cursor(0), early: map[uint64]bool{},
	}
}

// An exchange that goes on for longer than patience is shown as it stands, so that a hang is seen while it lasts.
const patience = 5 * time.Second

// A storm is shown in gulps; reading the journal for every request would slow the server down.
const gulp = 50 * time.Millisecond

// follow shows exchanges until ctx ends.
func (t *tail) follow(ctx context.Context) {
	if t.quiet {
		<-ctx.Done()
		return
	}
	for {
		changed := t.j.Changed()
		open := t.show(false)
		look := time.NewTimer(patience)
		if !open {
			look.Stop()
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-changed:
			time.Sleep(gulp)
		}
		look.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// rest shows what is left at the end, over or not.
func (t *tail) rest() {
	if !t.quiet {
		t.show(true)
	}
}

// show writes what is over and was not shown, or all that was not, and tells whether something else is going on.
func (t *tail) show(all bool) (open bool) {
	var lines strings.Builder
	entries, anew := t.cursor.Next()
	if anew {
		clear(t.early)
		lines.WriteString(t.paint.Dim("the run begins anew") + "\n")
	}
	for _, e := range entries {
		over := all || !e.Open || t.j.Elapsed()-e.At >= patience
		if over && !t.early[e.Seq] {
			lines.WriteString(t.line(e))
		}
		t.early[e.Seq] = over
		if !e.Open {
			delete(t.early, e.Seq)
		}
		open = open || !over
	}
	io.WriteString(t.out, lines.String())
	return open
}

func (t *tail) line(e journal.Entry) string {
	w := report.Witness{Status: e.Status, Fault: e.Fault, RetryAfter: e.RetryAfter, Cut: e.Cut, Left: e.Gone > 0, Handshake: e.Handshake}
	request := e.Request()
	if e.Query != "" {
		request += "?" + e.Query
	}
	why := ""
	if e.Rule != "" {
		why = "  rule " + report.Clean(e.Rule)
	}
	if e.Upstream != 0 && (e.Upstream != e.Status || e.Cut) {
		why += fmt.Sprintf(", upstream said %d", e.Upstream) // the work was done, whatever the client thinks
	}
	if n := e.Hits(); n > 1 || n == 1 && e.Upstream == 0 {
		why += fmt.Sprintf(", sent to the upstream %s", plural(n, "time"))
	}
	return fmt.Sprintf("%s %s  %-12s %s -> %s%s\n",
		t.paint.Dim(fmt.Sprintf("%5s", "#"+strconv.FormatUint(e.Seq, 10))), fmt.Sprintf("%9.3f s", e.At.Seconds()),
		report.Clean(e.Client), report.Clean(request), t.shade(e)(report.Answer(w)), t.paint.Dim(why))
}

// shade colours an answer: what was disturbed stands out, what went wrong without a fault even more.
func (t *tail) shade(e journal.Entry) func(string) string {
	switch {
	case e.Rule != "":
		return t.paint.Yellow
	case e.Status == 0 || e.Cut || e.Status >= 400:
		return t.paint.Red
	default:
		return t.paint.Green
	}
}

// firedText says how often each rule's fault acted.
func firedText(fired map[string]uint64) string {
	if len(fired) == 0 {
		return "none planned"
	}
	parts := make([]string, 0, len(fired))
	for _, rule := range slices.Sorted(maps.Keys(fired)) {
		switch n := fired[rule]; n {
		case 0:
			parts = append(parts, rule+" never")
		case 1:
			parts = append(parts, rule+" once")
		default:
			parts = append(parts, fmt.Sprintf("%s %d times", rule, n))
		}
	}
	return strings.Join(parts, ", ")
}
