package assert_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// storm is incident S0 in numbers: 48 clients, each looping on a 400 ten times a second, 823,000 requests in all.
func storm() []journal.Entry {
	const clients, total = 48, 823_000
	entries := make([]journal.Entry, total)
	for i := range entries {
		who := i % clients
		entries[i] = journal.Entry{
			Seq: uint64(i + 1), At: time.Duration(i/clients)*100*time.Millisecond + time.Duration(who)*time.Millisecond,
			Took: 2 * time.Millisecond, Client: fmt.Sprintf("driver-%d", who), Method: "POST", Path: "/driver/status",
			BodySum: uint64(who + 1), BodyLen: 180, BodyWhole: true, Conn: uint64(who + 1), Proto: "HTTP/1.1", Status: 400,
			Rule: "sustained", Fault: "status",
		}
	}
	return entries
}

// BenchmarkJudge823k groups the storm by matching and judges it by every clause of the default contract. Budget: 3 s.
func BenchmarkJudge823k(b *testing.B) {
	entries := storm()
	contract := assert.Strict()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		calls := assert.Calls(entries, assert.Key{})
		if len(calls) != 48 {
			b.Fatalf("%d calls, want 48", len(calls))
		}
		assert.Judge(contract, nil, calls)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/storm")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/float64(len(entries)), "B/entry")
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
