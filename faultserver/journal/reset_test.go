package journal

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestResetStartsAnotherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(2)
		for range 3 {
			exchange(j, traffic(1))
		}
		late := j.Arrive(traffic(2))
		time.Sleep(time.Minute)
		j.Reset()
		if h := j.History(); len(h.Entries) != 0 || h.Lost != 0 || h.Until != 0 || !h.Began.Equal(time.Now()) || j.Pending() != 0 {
			t.Errorf("after the reset: %+v, %d pending", h, j.Pending())
		}

		time.Sleep(time.Second)
		late.Acted("outage", "status")
		late.Answered(200, "")
		late.Left()
		late.Close()
		first := j.Arrive(Arrival{Path: "/new"})
		if j.Pending() != 1 || first.Seq() != 1 || first.At() != time.Second || j.Lost() != 0 {
			t.Errorf("%d pending, seq %d at %v, %d lost", j.Pending(), first.Seq(), first.At(), j.Lost())
		}
		first.Close()
		if got := j.Entries(); len(got) != 1 || got[0].Path != "/new" || got[0].Status != 0 || got[0].Open {
			t.Errorf("%+v", got)
		}
	})
}

// Whatever is read while the journal is reset again and again is of one run.
func TestReadersNeverMixRuns(t *testing.T) {
	const chunks = 2
	j := New(0)
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		cursor := j.Cursor(0)
		readers.Go(func() {
			for {
				inOrder(t, j.Entries())
				oneRun(t, j.History().Entries)
				next, _ := cursor.Next()
				oneRun(t, next)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for run := range 10 {
		for range chunks * chunkEntries {
			j.Arrive(Arrival{Conn: uint64(run)}).Close()
		}
		j.Reset()
	}
	close(stop)
	readers.Wait()
}

func oneRun(t *testing.T, entries []Entry) {
	t.Helper()
	for _, e := range entries {
		if e.Conn != entries[0].Conn {
			t.Errorf("entries of run %d and of run %d", entries[0].Conn, e.Conn)
			return
		}
	}
}

func TestCursorGivesEachEntryUntilItIsClosed(t *testing.T) {
	j := New(3)
	arrive := func() *Exchange { return j.Arrive(Arrival{Path: "/"}) }
	first, second := arrive(), arrive()
	c := j.Cursor(0)
	next := func(want ...uint64) []Entry {
		t.Helper()
		entries, anew := c.Next()
		var got []uint64
		for _, e := range entries {
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, want) || anew {
			t.Errorf("got %d (anew: %v), want %d", got, anew, want)
		}
		return entries
	}
	next(1, 2)
	second.Answered(200, "")
	if got := next(1, 2); !got[0].Open || got[1].Status != 200 {
		t.Errorf("%+v", got)
	}
	second.Close()
	arrive()
	next(1, 2, 3)
	next(1, 3)
	arrive() // the journal keeps three, so the first goes
	next(3, 4)
	first.Close()

	if behind, _ := j.Cursor(3).Next(); len(behind) != 1 || behind[0].Seq != 4 {
		t.Errorf("behind 3: %+v", behind)
	}

	began := c.Began()
	j.Reset()
	if got, anew := c.Next(); len(got) != 0 || !anew || !c.Began().After(began) {
		t.Errorf("after a reset: %+v, %v", got, anew)
	}
	arrive().Close()
	next(1)
	next()
}
