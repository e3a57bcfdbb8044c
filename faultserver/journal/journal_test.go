package journal

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestEntryTellsTheWholeExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(0)
		time.Sleep(2 * time.Second)
		x := j.Arrive(Arrival{
			Client: "client-1", Call: "c1", Claim: 2, Method: "POST", Path: "/driver/status", Query: "a=1", Key: "k",
			Precondition: true, Closing: true, Auth: 7, Conn: 3, Proto: "HTTP/1.1", TLS: true, Sent: allRare().Sent,
		})
		time.Sleep(time.Second)
		x.Body(99, 12, true)
		x.Early()
		x.Unprocessed()
		x.Handshake("alert: bad certificate")
		x.Acted("outage", "latency+status")
		x.Asked(200)
		x.Told(allRare().Told)
		x.Sends(int(allRare().Sends))
		x.Answered(503, "2")
		x.Cut()

		want := Entry{
			Seq: 1, At: 2 * time.Second, Client: "client-1", Call: "c1", Claim: 2, Method: "POST", Path: "/driver/status",
			Query: "a=1", Key: "k", Precondition: true, Closing: true, Auth: 7, Conn: 3, Proto: "HTTP/1.1", TLS: true, Handshake: "alert: bad certificate", BodySum: 99, BodyLen: 12,
			BodyWhole: true, Early: true, Unprocessed: true, Rule: "outage", Fault: "latency+status", Upstream: 200, Status: 503, RetryAfter: "2", Cut: true,
			Open: true, Rare: allRare(),
		}
		if got := j.Entries()[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("open entry:\ngot  %+v\nwant %+v", got, want)
		}
		if j.Pending() != 1 {
			t.Errorf("pending %d, want 1", j.Pending())
		}

		x.Left()
		time.Sleep(time.Second)
		x.Left()
		x.Close()
		want.Open, want.Gone, want.Took = false, 3*time.Second, 2*time.Second
		time.Sleep(time.Second)
		x.Close()
		x.Left()
		x.Body(1, 1, false)
		x.Acted("other", "other")
		x.Answered(200, "")
		if got := j.Entries()[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("closed entry:\ngot  %+v\nwant %+v", got, want)
		}
		if j.Pending() != 0 || j.Len() != 1 || j.Lost() != 0 || j.Elapsed() != 5*time.Second {
			t.Errorf("pending %d, len %d, lost %d, elapsed %v", j.Pending(), j.Len(), j.Lost(), j.Elapsed())
		}
	})
}

func TestLeavingAtOnceIsNotStaying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(0)
		x := j.Arrive(Arrival{})
		x.Left()
		x.Close()
		if got := j.Entries()[0].Gone; got <= 0 {
			t.Errorf("gone %v, want more than 0", got)
		}
	})
}

// An exchange takes until it was said to be over, however late it is closed.
func TestOverIsWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(0)
		x := j.Arrive(Arrival{Method: "GET"})
		time.Sleep(time.Second)
		x.Over()
		time.Sleep(time.Second)
		x.Over()
		if e := j.Entries()[0]; !e.Open {
			t.Error("it is closed already")
		}
		x.Close()
		if e := j.Entries()[0]; e.Open || e.Took != time.Second {
			t.Errorf("it took %v, want 1s; open: %v", e.Took, e.Open)
		}
	})
}

func TestOldestGoAndAreCounted(t *testing.T) {
	for _, limit := range []int{1, 10, chunkEntries, chunkEntries + 1, 3 * chunkEntries} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			j := New(limit)
			total := 2*limit + chunkEntries + 3
			first := j.Arrive(Arrival{Path: "/first"})
			for range total - 1 {
				j.Arrive(Arrival{Path: "/"}).Close()
			}
			first.Acted("late", "late")
			first.Close() // its chunk is gone by now
			h := j.History()
			if len(h.Entries) != limit || j.Len() != limit || h.Lost != uint64(total-limit) || j.Lost() != h.Lost {
				t.Fatalf("%d entries, len %d, lost %d and %d, want %d and %d", len(h.Entries), j.Len(), h.Lost, j.Lost(), limit, total-limit)
			}
			for i, e := range h.Entries {
				if want := uint64(total - limit + i + 1); e.Seq != want {
					t.Fatalf("entry %d has seq %d, want %d", i, e.Seq, want)
				}
			}
			if j.Pending() != 0 {
				t.Errorf("pending %d", j.Pending())
			}
		})
	}
}

func TestLongStringsLoseOldEntriesInsteadOfMemory(t *testing.T) {
	const total = 1000
	j, tail := New(total), strings.Repeat("x", maxText)
	for i := range total {
		j.Arrive(Arrival{Path: fmt.Sprintf("/%d/%s", i, tail)}).Close()
	}
	if j.text > 6*chunkText {
		t.Errorf("%d bytes of text are kept", j.text)
	}
	h := j.History()
	if len(h.Entries) == 0 || h.Lost != total-uint64(len(h.Entries)) || h.Lost != j.Lost() {
		t.Errorf("%d entries, %d lost", len(h.Entries), h.Lost)
	}
	long := h.Entries[0].Path
	if len(long) != maxText || !strings.HasPrefix(long, fmt.Sprintf("/%d/xxx", h.Lost)) {
		t.Errorf("path of %d bytes: %.20s", len(long), long)
	}
}

func TestClippedStringsStayDifferent(t *testing.T) {
	base := strings.Repeat("x", maxText)
	if a, b := clip(base+"a", maxText), clip(base+"b", maxText); a == b || len(a) != maxText || len(b) != maxText {
		t.Errorf("%d and %d bytes, equal: %v", len(a), len(b), a == b)
	}
}

func TestAfterFollowsAGrowingJournal(t *testing.T) {
	j := New(5000)
	var seen uint64
	for round := range 7 {
		for range 1000 {
			j.Arrive(Arrival{Path: "/"}).Close()
		}
		for _, e := range j.After(seen) {
			if e.Seq != seen+1 {
				t.Fatalf("round %d: seq %d after %d", round, e.Seq, seen)
			}
			seen = e.Seq
		}
	}
	if seen != 7000 || len(j.After(seen)) != 0 {
		t.Errorf("seen %d, then %d more", seen, len(j.After(seen)))
	}
}

func TestChangedWakesAtEveryStep(t *testing.T) {
	j := New(0)
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	quiet := j.Changed()
	if closed(quiet) {
		t.Error("changed before anything happened")
	}
	x := j.Arrive(Arrival{})
	if !closed(quiet) {
		t.Error("an arrival went unnoticed")
	}
	for _, step := range []struct {
		name string
		take func()
	}{
		{"fault", func() { x.Acted("outage", "status") }},
		{"answer", func() { x.Answered(200, "") }},
		{"end", x.Close},
		{"reset", j.Reset},
	} {
		again := j.Changed()
		if closed(again) {
			t.Errorf("changed before the %s", step.name)
		}
		step.take()
		if !closed(again) {
			t.Errorf("the %s went unnoticed", step.name)
		}
	}
}

// TestManyWriters has hundreds of goroutines write while others read, and finds each exchange complete and in order.
func TestManyWriters(t *testing.T) {
	const writers, each = 400, 50
	j := New(0)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				x := j.Arrive(Arrival{Client: fmt.Sprint("client-", w), Call: fmt.Sprint(w, "/", i)})
				var inner sync.WaitGroup
				inner.Go(x.Left)
				x.Body(uint64(i), int64(i), true)
				x.Answered(503, strconv.Itoa(i))
				inner.Wait()
				x.Close()
			}
		})
	}
	for range 20 {
		inOrder(t, j.Entries())
	}
	wg.Wait()

	entries := j.Entries()
	inOrder(t, entries)
	if len(entries) != writers*each || j.Pending() != 0 {
		t.Fatalf("%d entries, %d pending", len(entries), j.Pending())
	}
	for _, e := range entries {
		if e.Open || e.Status != 503 || e.Gone == 0 || strconv.FormatInt(e.BodyLen, 10) != e.RetryAfter || !strings.HasPrefix(e.Call, e.Client[7:]+"/") {
			t.Fatalf("mixed up: %+v", e)
		}
	}
}

func inOrder(t *testing.T, entries []Entry) {
	t.Helper()
	for i, e := range entries {
		if e.Seq != uint64(i+1) || i > 0 && e.At < entries[i-1].At {
			t.Errorf("entry %d has seq %d at %v", i, e.Seq, e.At)
			return
		}
	}
}

func TestAllFieldsAreKept(t *testing.T) {
	// A field that is added to Entry must also be packed, or it silently stays empty.
	if got := reflect.TypeFor[Entry]().NumField(); got != 31 {
		t.Errorf("Entry has %d fields; teach record, line and TestEntryTellsTheWholeExchange the new one", got)
	}
}

func TestTextsKeepEachStringOnce(t *testing.T) {
	var table texts
	numbers := map[string]uint16{}
	for round := range 3 {
		for i := range 5000 {
			s := fmt.Sprint("s", i)
			n := table.add(s)
			if round > 0 && numbers[s] != n {
				t.Fatalf("%s is %d and %d", s, numbers[s], n)
			}
			numbers[s] = n
		}
	}
	all := table.expand()
	for s, n := range numbers {
		if all[n] != s || string(table.get(n)) != s {
			t.Fatalf("number %d is %q, want %q", n, all[n], s)
		}
	}
	for i := len(table.ends); i < maxTexts+10; i++ {
		table.add(fmt.Sprint("more", i))
	}
	if len(table.ends) != maxTexts || table.add("one too many") != 0 {
		t.Errorf("%d strings", len(table.ends))
	}
}
