package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Write writes h as JSON Lines: a header, then one line an entry in order of arrival, durations in nanoseconds. Read
// gives back the same history. Entries must be in order, as a journal gives them.
func Write(w io.Writer, h History) error {
	out := bufio.NewWriterSize(w, 64<<10)
	lines := encoder(out)
	count := uint64(len(h.Entries))
	err := lines.Encode(header{Journal: version, Began: h.Began, Lost: h.Lost, Until: int64(h.Until), Entries: &count})
	for i := 0; err == nil && i < len(h.Entries); i++ {
		err = lines.Encode(toLine(&h.Entries[i]))
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("journal: write: %w", err)
	}
	return nil
}

// WriteLive begins a history that is written while it goes on: its header, for entries that follow one by one with
// WriteEntry as they end. Without WriteEnd it holds nothing of what was still going on when it stops, so that Read counts
// it as lossy.
func WriteLive(w io.Writer, h History) error {
	return encoder(w).Encode(header{Journal: version, Began: h.Began, Lost: h.Lost, Until: int64(h.Until), Live: true})
}

// WriteEntry writes one entry as a line of JSON.
func WriteEntry(w io.Writer, e Entry) error { return encoder(w).Encode(toLine(&e)) }

// WriteEnd closes a live history of so many entries that was watched until the time until, and lost others.
func WriteEnd(w io.Writer, entries, lost uint64, until time.Duration) error {
	return encoder(w).Encode(end{Until: int64(until), Lost: lost, Entries: entries})
}

func encoder(w io.Writer) *json.Encoder {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lines
}
