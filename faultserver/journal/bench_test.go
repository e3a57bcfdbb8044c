package journal

import (
	"fmt"
	"runtime"
	"testing"
)

// traffic returns arrivals as an API sees them: a few hundred clients, ids in the path, three attempts at each call.
func traffic(i int) Arrival {
	return Arrival{
		Client: fmt.Sprintf("client-%d", i%300), Call: fmt.Sprintf("7f9c24e8-3b12-4fef-91e0-%012x", i/3), Claim: int32(i % 3),
		Method: "POST", Path: fmt.Sprintf("/drivers/%d/status", i%5000), Conn: uint64(i / 10), Proto: "HTTP/1.1", Auth: uint64(i % 300),
	}
}

func exchange(j *Journal, a Arrival) {
	x := j.Arrive(a)
	x.Body(a.Conn, 128, true)
	x.Acted("outage", "status")
	x.Answered(503, "2")
	x.Close()
}

func BenchmarkExchange(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(i int) Arrival
	}{
		{"typical", func(int) Arrival { return traffic(1) }},
		{"unique-call-ids", traffic},
	} {
		arrivals := make([]Arrival, 1<<16)
		for i := range arrivals {
			arrivals[i] = c.make(i)
		}
		b.Run(c.name, func(b *testing.B) {
			j := New(100_000)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					exchange(j, arrivals[i%len(arrivals)])
				}
			})
		})
	}
}

// BenchmarkBytesPerEntry fills a journal and reports what the heap grew by.
func BenchmarkBytesPerEntry(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(i int) Arrival
	}{
		{"typical", traffic},
		{"no-call-ids", func(i int) Arrival { a := traffic(i); a.Call = ""; return a }},
		{"traced", func(i int) Arrival {
			a := traffic(i)
			a.CallBy, a.Trace = "Idempotency-Key", Trace{1, byte(i / 3), byte(i / 3 >> 8), byte(i / 3 >> 16)}
			return a
		}},
		{"all-unique", func(i int) Arrival {
			a := traffic(3 * i)
			a.Key, a.Path = a.Call[1:], fmt.Sprintf("/drivers/%d/status", i)
			return a
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const entries = 200_000
			for b.Loop() {
				before := heap()
				j := New(entries)
				for i := range entries {
					exchange(j, c.make(i))
				}
				b.ReportMetric(float64(heap()-before)/entries, "bytes/entry")
				runtime.KeepAlive(j)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkEntries(b *testing.B) {
	j := New(0)
	for i := range 100_000 {
		exchange(j, traffic(i))
	}
	for b.Loop() {
		j.Entries()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/entry")
}
