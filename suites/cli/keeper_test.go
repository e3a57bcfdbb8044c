package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestKeeperSavesWhileTheJournalGrows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	synctest.Test(t, func(t *testing.T) {
		k, err := newKeeper(file)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		j := journal.New(100)
		done := make(chan error)
		go func() { done <- k.follow(ctx, j) }()

		for want := 1; want <= 3; want++ {
			arrive(j, "/x").Close()
			time.Sleep(2 * saveEvery)
			if got := len(saved(t, file).Entries); got != want {
				t.Errorf("after %d arrivals the file holds %d", want, got)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
		t.Errorf("temporary files stay behind: %v", left)
	}
}

func TestKeeperWithoutAFile(t *testing.T) {
	k, err := newKeeper("")
	if err != nil || k.save(journal.New(1)) != nil || k.follow(t.Context(), journal.New(1)) != nil {
		t.Error("keeping nothing must be no trouble")
	}
}

func TestKeeperWritesToADevice(t *testing.T) {
	k, err := newKeeper(os.DevNull)
	if err != nil || k.plain {
		t.Fatalf("%v; %+v", err, k)
	}
	if err := k.save(journal.New(1)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device was replaced by a file: %v", err)
	}
}

func saved(t *testing.T, file string) journal.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := journal.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
