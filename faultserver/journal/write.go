package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Write writes h as JSON Lines: a header, then one line an entry in order of arrival, durations in nanoseconds. Read
// gives back the same history. Entries must be in order, as a journal gives them.
func Write(w io.Writer, h History) error {
	out := bufio.NewWriterSize(w, 64<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
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
