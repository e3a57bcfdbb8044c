package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestKeeperWritesWhileTheJournalGrows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	synctest.Test(t, func(t *testing.T) {
		j := journal.New(100)
		k := keep(t, file, j)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- k.follow(ctx) }()

		var slow *journal.Exchange
		for _, run := range []string{"first", "second"} {
			for want := 1; want <= 3; want++ {
				arrive(j, "/"+run).Close()
				time.Sleep(2 * gulp)
				if h := saved(t, file); len(h.Entries) != want || h.Lost == 0 || h.Entries[0].Path != "/"+run {
					t.Errorf("after %d arrivals of the %s run the file holds %+v; what goes on must count as lost", want, run, h)
				}
			}
			if run == "first" {
				j.Reset()
			}
		}
		slow = arrive(j, "/slow")
		stop()
		if err := errors.Join(<-done, k.close()); err != nil {
			t.Error(err)
		}
		if h := saved(t, file); len(h.Entries) != 4 || h.Lost != 0 || !h.Entries[3].Open || h.Until != j.Elapsed() {
			t.Errorf("at the end: %+v", h)
		}
		slow.Close()
	})
}

// A file that is mounted by itself, as containers do, lies where no other can be made.
func TestKeeperNeedsNothingButTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "journal.jsonl")
	if err := errors.Join(os.WriteFile(file, nil, 0o644), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(10)
	k := keep(t, file, j)
	arrive(j, "/x").Close()
	if err := k.close(); err != nil || len(saved(t, file).Entries) != 1 {
		t.Error(err)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("another file stands in its place (%v); on a mount of its own none can", err)
	}
}

func TestKeeperFollowsASymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := keep(t, link, journal.New(1)).close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	saved(t, target)
}

func TestKeeperReplacesHistoriesAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "precious.txt")
	if err := os.WriteFile(file, []byte("precious\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := newKeeper(file, false, journal.New(1))
	if err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("got %v, want a word about --force", err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "precious\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	j := journal.New(10)
	arrive(j, "/old").Close()
	k, err := newKeeper(file, true, j)
	if err != nil || k.replaced || k.close() != nil {
		t.Fatalf("with --force: %v", err)
	}
	// What was there is gone before anything comes, so that it is never judged in place of what does.
	if k := keep(t, file, journal.New(1)); !k.replaced || len(saved(t, file).Entries) != 0 {
		t.Error("an earlier history stays")
	}
}

func TestKeeperCountsWhatItMissed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	j := journal.New(2)
	k := keep(t, file, j)
	for range 5 {
		arrive(j, "/x").Close()
	}
	if err := k.close(); err != nil {
		t.Fatal(err)
	}
	if h := saved(t, file); len(h.Entries) != 2 || h.Lost != 3 {
		t.Errorf("%+v", h)
	}
}

func TestKeeperTellsThatTheDiskIsFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	j := journal.New(10)
	k := keep(t, filepath.Join(t.TempDir(), "journal.jsonl"), j)
	k.out.Close()
	k.out = full
	k.lines.Reset(full)
	arrive(j, "/x").Close()
	if err := k.follow(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if err := k.close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("at the end it is forgotten: %v", err)
	}
}

func TestKeeperWithoutAFile(t *testing.T) {
	k := keep(t, "", journal.New(1))
	if k.follow(t.Context()) != nil || k.close() != nil {
		t.Error("keeping nothing must be no trouble")
	}
}

func TestKeeperWritesToADevice(t *testing.T) {
	k := keep(t, os.DevNull, journal.New(1))
	if err := errors.Join(k.follow(t.Context()), k.close()); k.plain || err != nil {
		t.Errorf("%v; %+v", err, k)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device was replaced by a file: %v", err)
	}
}

func keep(t *testing.T, file string, j *journal.Journal) *keeper {
	t.Helper()
	k, err := newKeeper(file, false, j)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func saved(t *testing.T, file string) journal.History {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := journal.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
