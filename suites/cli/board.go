package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// board shows on stderr how the scenarios get on: a live block on a terminal, else a line for each that is done.
type board struct {
	out           io.Writer
	live          bool
	quiet         bool
	paint         report.Paint
	width, height int

	mu    sync.Mutex
	rows  []*row
	drawn int // lines of the block that stand on the terminal now
	frame int

	stop, stopped chan struct{}
}

// preflight is the driver's look at a client in front of a healthy server, before the scenarios.
const preflight = "preflight"

// refresh is short enough to look alive and long enough to cost nothing.
const refresh = 100 * time.Millisecond

// newBoard starts a board for scenarios that are to be run with at least so many clients each.
func newBoard(w *world, all []scenarios.Scenario, clients int, quiet bool) *board {
	style := w.style(w.stderr)
	tty, _ := terminal(w.stderr)
	b := &board{
		out: w.stderr, live: tty && !quiet && w.getenv("TERM") != "dumb", quiet: quiet, paint: report.Paint(style.Color),
		width: cmp.Or(style.Width, 80), height: height(w.stderr),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	b.rows = append(b.rows, newRow(preflight, 1))
	for _, s := range all {
		b.rows = append(b.rows, newRow(s.Name, max(clients, s.Clients, 1)))
	}
	go b.run()
	return b
}

// event takes note of what a client did.
func (b *board) event(e driver.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.row(e.Scenario)
	if r == nil {
		return
	}
	if r.began.IsZero() || e.Kind == driver.Started && !r.done.IsZero() { // a breach that a busy machine could fake is looked at again
		r.restart()
	}
	r.requests[e.Client] = max(r.requests[e.Client], e.Requests)
	if e.Kind != driver.Ended {
		return
	}
	r.ended++
	if r.ended < r.clients {
		return
	}
	r.done = time.Now()
	if !b.live && !b.quiet {
		fmt.Fprintf(b.out, "%s: done, clients %d, requests %d, %.1f s\n", r.name, r.clients, r.total(), r.done.Sub(r.began).Seconds())
	}
}

func (b *board) run() {
	defer close(b.stopped)
	if !b.live {
		<-b.stop
		return
	}
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		b.draw()
		select {
		case <-tick.C:
		case <-b.stop:
			b.clear()
			return
		}
	}
}

// close takes the block off the terminal.
func (b *board) close() {
	close(b.stop)
	<-b.stopped
	if !b.live && !b.quiet {
		fmt.Fprintln(b.out) // between the lines above and the report, where both go to one file
	}
}

func (b *board) draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frame++
	var s strings.Builder
	s.WriteString(b.up())
	shown := b.fitting()
	for _, r := range shown {
		fmt.Fprintf(&s, "\r\x1b[2K%s\n", b.line(r))
	}
	s.WriteString("\x1b[0J")
	b.drawn = len(shown)
	io.WriteString(b.out, s.String())
}

func (b *board) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	io.WriteString(b.out, b.up()+"\r\x1b[0J")
	b.drawn = 0
}

// up goes back to the block's first line.
func (b *board) up() string {
	if b.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA", b.drawn)
}

// fitting are the rows that the terminal has room for: those that run come before those that are done or wait.
func (b *board) fitting() []*row {
	room := max(1, b.height-1)
	if len(b.rows) <= room {
		return b.rows
	}
	var running, others []*row
	for _, r := range b.rows {
		if r.running() {
			running = append(running, r)
		} else {
			others = append(others, r)
		}
	}
	return append(running, others...)[:room]
}

// spinner is plain ASCII: it looks right in every locale.
const spinner = `|/-\`

func (b *board) line(r *row) string {
	switch {
	case r.began.IsZero():
		return b.paint.Dim(b.cut(fmt.Sprintf("  %-24s waiting", r.name)))
	case r.done.IsZero():
		mark := string(spinner[b.frame%len(spinner)])
		return b.paint.Cyan(mark) + b.cut(fmt.Sprintf(" %-24s %s", r.name, r.tally(time.Since(r.began))))
	default:
		return b.paint.Green("*") + b.paint.Dim(b.cut(fmt.Sprintf(" %-24s %s", r.name, r.tally(r.done.Sub(r.began)))))
	}
}

// cut keeps a line from wrapping, which would break the block apart.
func (b *board) cut(s string) string {
	return s[:min(len(s), max(0, b.width-2))]
}

// row finds a scenario's row, nil if there is none.
func (b *board) row(name string) *row {
	for _, r := range b.rows {
		if r.name == name {
			return r
		}
	}
	return nil
}
