package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// keeper writes a journal to a file while it grows: each exchange is added when it is over, so that a killed process leaves
// all but the last moment behind, and nothing but the file itself needs to be writable. Without a file it keeps nothing.
type keeper struct {
	file     string
	replaced bool // there was an earlier history

	journal *journal.Journal
	cursor  *journal.Cursor
	out     *os.File
	plain   bool // a regular file; a pipe or a device cannot begin anew after a reset, so it is written once, at the end
	lines   *bufio.Writer
	written uint64 // entries of this run
	err     error  // the first one: what comes after it is not kept
}

// newKeeper opens file and begins to write, so that what cannot be written is known before anything comes. An earlier
// history there is replaced; anything else is left alone unless force is given.
func newKeeper(file string, force bool, j *journal.Journal) (*keeper, error) {
	k := &keeper{file: file, journal: j, cursor: j.Cursor(0)}
	if file == "" {
		return k, nil
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	info, err := os.Stat(file)
	k.plain = err != nil || info.Mode().IsRegular()
	switch {
	case err == nil && !k.plain:
		mode |= syscall.O_NONBLOCK // a pipe without a reader is refused, not waited for
	case err == nil && info.Size() > 0:
		if k.replaced = isHistory(file); !k.replaced && !force {
			return nil, fmt.Errorf("--journal %s: exists and is no earlier history, so it is left alone; name another file, or add --force", file)
		}
	}
	if k.out, err = os.OpenFile(file, mode, 0o644); err != nil {
		return nil, k.explain(err)
	}
	k.lines = bufio.NewWriterSize(k.out, 64<<10)
	if k.plain {
		err = errors.Join(k.begin(), k.lines.Flush())
	}
	if err != nil {
		return nil, errors.Join(k.explain(err), k.out.Close())
	}
	return k, nil
}

// isHistory reports whether a file begins as a written history does.
func isHistory(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	start, _ := io.ReadAll(io.LimitReader(f, 1<<10)) // what could not be read is no history
	line, _, _ := bytes.Cut(start, []byte("\n"))
	var header struct{ Journal *int }
	return json.Unmarshal(line, &header) == nil && header.Journal != nil
}

// explain says err in terms of the flag, without the file's name again.
func (k *keeper) explain(err error) error {
	if errors.Is(err, syscall.ENXIO) {
		err = errors.New("nobody reads this pipe")
	}
	return fmt.Errorf("--journal %s: %w", k.file, bare(err))
}

// begin empties the file for a run.
func (k *keeper) begin() error {
	k.written = 0
	if err := k.out.Truncate(0); err != nil {
		return err
	}
	return journal.WriteLive(k.lines, journal.History{Began: k.cursor.Began().Round(0).UTC()})
}

// follow adds what is over, until ctx ends or the file cannot be written.
func (k *keeper) follow(ctx context.Context) error {
	for k.plain && k.file != "" {
		changed := k.journal.Changed()
		if err := k.add(false); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			time.Sleep(gulp)
		}
	}
	return nil
}

// add writes what is over and was not written, or all that was not.
func (k *keeper) add(all bool) error {
	entries, anew := k.cursor.Next()
	var err error
	if anew {
		err = k.begin()
	}
	for i := 0; err == nil && i < len(entries); i++ {
		if all || !entries[i].Open {
			err = journal.WriteEntry(k.lines, entries[i])
			k.written++
		}
	}
	if err == nil {
		err = k.lines.Flush()
	}
	if err != nil {
		k.err = k.explain(err)
	}
	return k.err
}

// close writes what is left, and that this is the end. The error says that the history is not whole.
func (k *keeper) close() error {
	if k.file == "" {
		return nil
	}
	if k.err == nil {
		k.err = k.finish()
	}
	if err := k.out.Close(); err != nil && k.err == nil {
		k.err = k.explain(err)
	}
	return k.err
}

func (k *keeper) finish() error {
	if !k.plain {
		if err := journal.Write(k.out, k.journal.History()); err != nil {
			return k.explain(err)
		}
		return nil
	}
	if err := k.add(true); err != nil {
		return err
	}
	// What the journal dropped before it could be written is lost.
	lost := max(k.written, uint64(k.journal.Len())+k.journal.Lost()) - k.written
	err := journal.WriteEnd(k.lines, k.written, lost, k.journal.Elapsed())
	if err := errors.Join(err, k.lines.Flush()); err != nil {
		return k.explain(err)
	}
	return nil
}
