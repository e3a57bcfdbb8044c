package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// keeper writes a journal to a file, over and over while it grows, so that a killed process leaves a history behind.
// The zero file name keeps nothing.
type keeper struct {
	file  string
	plain bool // a regular file, or none yet: replaced in one step; anything else is written once, at the end
}

// newKeeper makes sure that file can be written.
func newKeeper(file string) (*keeper, error) {
	k := &keeper{file: file, plain: true}
	if file == "" {
		return k, nil
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		k.plain = false
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
	var path *os.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("--journal %s: %w", file, path.Err)
	}
	return k, errors.Join(err, f.Close())
}

const (
	saveEvery = 2 * time.Second
	saveShare = 20 // a save may take one part in so many of the time
)

// follow saves the journal when it has changed, until ctx ends.
func (k *keeper) follow(ctx context.Context, j *journal.Journal) error {
	if k.file == "" || !k.plain {
		return nil
	}
	pause := saveEvery
	for {
		changed := j.Changed()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		began := time.Now()
		if err := k.save(j); err != nil {
			return err
		}
		pause = max(saveEvery, saveShare*time.Since(began))
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// save writes the whole history. A regular file is replaced in one step: a reader sees the old one or the new one.
func (k *keeper) save(j *journal.Journal) error {
	if k.file == "" {
		return nil
	}
	if !k.plain {
		f, err := os.OpenFile(k.file, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("--journal: %w", err)
		}
		return errors.Join(journal.Write(f, j.History()), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(k.file), filepath.Base(k.file)+".*")
	if err != nil {
		return fmt.Errorf("--journal: %w", err)
	}
	if err := k.fill(f, j); err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("--journal: %w", err)
	}
	return nil
}

func (k *keeper) fill(f *os.File, j *journal.Journal) error {
	err := journal.Write(io.Writer(f), j.History())
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), k.file)
}
