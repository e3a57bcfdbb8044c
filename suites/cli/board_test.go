package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/suites/driver"
)

func testBoard(out *bytes.Buffer, rows ...*row) *board {
	return &board{out: out, live: true, width: 80, height: 24, rows: rows}
}

func TestBoardRedrawsInPlace(t *testing.T) {
	var out bytes.Buffer
	b := testBoard(&out, newRow("503-burst", 2), newRow("hang", 1))
	b.event(driver.Event{Scenario: "503-burst", Client: "client-1", Kind: driver.Started})
	b.event(driver.Event{Scenario: "503-burst", Client: "client-2", Kind: driver.Started})
	b.event(driver.Event{Scenario: "503-burst", Client: "client-2", Kind: driver.Sent, Requests: 40})
	b.event(driver.Event{Scenario: "503-burst", Client: "client-1", Kind: driver.Ended, Requests: 2})
	b.draw()
	first := out.String()
	if !strings.Contains(first, "503-burst") || !strings.Contains(first, "1 of 2") || !strings.Contains(first, "42 requests") || !strings.Contains(first, "hang") || !strings.Contains(first, "waiting") {
		t.Errorf("the first picture lacks something: %q", first)
	}
	out.Reset()
	b.draw()
	if !strings.HasPrefix(out.String(), "\x1b[2A") {
		t.Errorf("the second picture does not start on the first one's line: %q", out.String())
	}
	out.Reset()
	b.clear()
	if got := out.String(); got != "\x1b[2A\r\x1b[0J" {
		t.Errorf("the block is not taken away: %q", got)
	}
}

func TestBoardShowsASecondRun(t *testing.T) {
	var out bytes.Buffer
	b := testBoard(&out, newRow("503-burst", 1))
	b.event(driver.Event{Scenario: "503-burst", Client: "client-1", Kind: driver.Started})
	b.event(driver.Event{Scenario: "503-burst", Client: "client-1", Kind: driver.Ended, Requests: 4})
	b.event(driver.Event{Scenario: "503-burst", Client: "client-1", Kind: driver.Sent, Requests: 5}) // a straggler
	b.draw()
	if got := out.String(); strings.Contains(got, "second run") || !strings.Contains(got, "1 of 1") {
		t.Errorf("the first run is shown as %q", got)
	}
	b.event(driver.Event{Scenario: "503-burst", Client: "client-1", Kind: driver.Started})
	b.draw()
	if got := out.String(); !strings.Contains(got, "0 of 1") || !strings.Contains(got, "0 requests") || !strings.Contains(got, "second run") {
		t.Errorf("the second run is shown as %q", got)
	}
}

func TestBoardFitsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	b := testBoard(&out)
	b.height, b.width = 5, 40
	for i := range 20 {
		r := newRow(fmt.Sprintf("scenario-%02d-with-a-long-name", i), 1)
		if i == 19 {
			r.began = time.Now()
		}
		b.rows = append(b.rows, r)
	}
	b.draw()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\x1b[0J"), "\n")
	if len(lines) != 5 { // four rows and the empty rest
		t.Errorf("%d lines on a terminal with 5: %q", len(lines), lines)
	}
	if !strings.Contains(lines[0], "scenario-19") {
		t.Errorf("the scenario that runs is not shown first: %q", lines)
	}
	for _, l := range lines {
		if n := len(strings.TrimPrefix(l, "\r\x1b[2K")); n >= 40 {
			t.Errorf("a line of %d columns would wrap: %q", n, l)
		}
	}
}

func TestBoardWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	b := testBoard(&out, newRow("hang", 2))
	b.live = false
	for _, client := range []string{"client-1", "client-2"} {
		b.event(driver.Event{Scenario: "hang", Client: client, Kind: driver.Started})
		b.event(driver.Event{Scenario: "hang", Client: client, Kind: driver.Ended, Requests: 3})
	}
	b.event(driver.Event{Scenario: "of nobody's"})
	if got := out.String(); !strings.HasPrefix(got, "hang: done, clients 2, requests 6, ") || strings.Count(got, "\n") != 1 {
		t.Errorf("want one line, got %q", got)
	}
}

func TestBoardOnANarrowTerminal(t *testing.T) {
	b := newBoard(&world{stderr: &bytes.Buffer{}, env: []string{"COLUMNS=20"}}, nil, 1, true)
	b.close()
	for b.width >= 0 {
		if got := b.line(newRow("503-burst", 1)); len(got) > max(0, b.width-1) {
			t.Errorf("%d columns would wrap on a terminal of %d: %q", len(got), b.width, got)
		}
		b.width--
	}
}
