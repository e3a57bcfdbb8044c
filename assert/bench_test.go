package assert_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/journal"
)

const stormClients, stormSize = 48, 823_000

// stormEntry is one request of incident S0: 48 clients, each looping on a 400 ten times a second, 823,000 requests in all.
func stormEntry(i int) journal.Entry {
	who := i % stormClients
	return journal.Entry{
		Seq: uint64(i + 1), At: time.Duration(i/stormClients)*100*time.Millisecond + time.Duration(who)*time.Millisecond,
		Took: 2 * time.Millisecond, Client: fmt.Sprintf("driver-%d", who), Method: "POST", Path: "/driver/status",
		BodySum: uint64(who + 1), BodyLen: 180, BodyWhole: true, Conn: uint64(who + 1), Proto: "HTTP/1.1", Status: 400,
		Rule: "sustained", Fault: "status",
	}
}

// storm is the incident as a history.
func storm() []journal.Entry {
	entries := make([]journal.Entry, stormSize)
	for i := range entries {
		entries[i] = stormEntry(i)
	}
	return entries
}

// recorded is the incident in a journal, as a server keeps it, on a clock that is fast enough to make about as long of it.
func recorded() *journal.Journal {
	j := journal.On(clock.Fast(4000), 0)
	for i := range stormSize {
		e := stormEntry(i)
		x := j.Arrive(journal.Arrival{Client: e.Client, Method: e.Method, Path: e.Path, Conn: e.Conn, Proto: e.Proto})
		x.Body(e.BodySum, e.BodyLen, true)
		x.Acted(e.Rule, e.Fault)
		x.Answered(e.Status, "")
		x.Close()
	}
	return j
}

// BenchmarkJudge823k judges the storm by every clause of the default contract, grouped by matching. Budget: 3 s, and twice
// the memory of the journal. Peak is the most that is live at a time besides the journal, total all that is allocated.
func BenchmarkJudge823k(b *testing.B) {
	contract, empty := assert.Strict(), live()
	j := recorded()
	kept := float64(live() - empty)
	judge := func() {
		if results := assert.JudgeJournal(contract, nil, j, assert.Key{}); len(results) < 20 {
			b.Fatalf("%d clauses judged", len(results))
		}
	}
	for b.Loop() {
		judge()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/storm")

	defer debug.SetGCPercent(debug.SetGCPercent(5)) // so that the peak is seen, and holds little that is dead
	before, allocated := live(), allocatedBytes()
	peak := float64(highest(judge) - before)
	total := float64(allocatedBytes() - allocated)
	b.ReportMetric(kept/stormSize, "journal-B/entry")
	b.ReportMetric(peak/stormSize, "peak-B/entry")
	b.ReportMetric(peak/kept, "peak/journal")
	b.ReportMetric(total/stormSize, "total-B/entry")
	b.ReportMetric(total/kept, "total/journal")
	runtime.KeepAlive(j)
}

// BenchmarkJudgeEntries823k judges the same as a history that is unpacked already.
func BenchmarkJudgeEntries823k(b *testing.B) {
	contract, entries := assert.Strict(), storm()
	for b.Loop() {
		calls := assert.Calls(entries, assert.Key{})
		if len(calls) != stormClients {
			b.Fatalf("%d calls, want %d", len(calls), stormClients)
		}
		assert.Judge(contract, nil, calls)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/storm")
}

// live is what the heap holds.
func live() int64 {
	runtime.GC()
	return liveAtLastGC()
}

func liveAtLastGC() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

func allocatedBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// highest is the most that the heap held at the end of any garbage collection while do ran.
func highest(do func()) (most int64) {
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			most = max(most, liveAtLastGC())
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	do()
	close(done)
	watch.Wait()
	return most
}

// BenchmarkCalls823k is the other extreme of grouping: every request a call of its own.
func BenchmarkCalls823k(b *testing.B) {
	entries := storm()
	for i := range entries {
		entries[i].Status = 200
	}
	for b.Loop() {
		assert.Calls(entries, assert.Key{})
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/storm")
}
