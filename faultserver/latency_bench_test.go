package faultserver_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// BenchmarkLatencyFault: budget 1.2 for the ratio of how late 99 of 100 answers come at most, behind the fault and behind a
// handler that sleeps as long; the ratio is the median of those of several parts of the run, since one hiccup of the machine
// moves a 99th part. "early" counts answers that came before the delay was over: none may.
func BenchmarkLatencyFault(b *testing.B) {
	for _, c := range []struct {
		atOnce, rounds int
		delay          time.Duration
	}{{1, 200, 2 * time.Millisecond}, {100, 15, 20 * time.Millisecond}} {
		b.Run(fmt.Sprint(c.atOnce), func(b *testing.B) {
			one := dialN(b, serve(b, sleeper(c.delay)), get, c.atOnce)
			two := dialN(b, latencyServer(b, c.delay), get, c.atOnce)
			for b.Loop() {
				var ratios []float64
				early := 0
				for range 9 {
					base, subj := lateness(b, one, two, c.delay, c.rounds)
					ratios = append(ratios, p99(subj)/p99(base))
					b.ReportMetric(p99(base), "baseline-p99-ms")
					b.ReportMetric(p99(subj), "p99-ms")
					n, _ := slices.BinarySearch(subj, 0)
					early += n
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
				b.ReportMetric(float64(early), "early")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func p99(sorted []time.Duration) (ms float64) { return float64(sorted[len(sorted)*99/100]) / 1e6 }

// sleeper is the yardstick: what net/http makes of the same delay. It sleeps in real time, whose lateness is measured here.
func sleeper(d time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(d)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
	})
}

func latencyServer(tb testing.TB, d time.Duration) (addr string) {
	s := faultserver.New()
	tb.Cleanup(func() { s.Close() })
	err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "slow", Fault: fault.Of("latency", &fault.Latency{Fixed: d})}}})
	if err != nil {
		tb.Fatal(err)
	}
	return listen(tb, s)
}

// lateness takes turns, so that both meet the same machine, and returns how late answers came, sorted.
func lateness(tb testing.TB, one, two *load, delay time.Duration, rounds int) (base, subj []time.Duration) {
	for i := range rounds {
		if i%2 == 0 { // neither always comes first
			base, subj = append(base, one.late(tb, delay)...), append(subj, two.late(tb, delay)...)
		} else {
			subj, base = append(subj, two.late(tb, delay)...), append(base, one.late(tb, delay)...)
		}
	}
	slices.Sort(base)
	slices.Sort(subj)
	return base, subj
}

// late sends one request over each connection, all at once, and returns how much later than the delay the answers came.
func (l *load) late(tb testing.TB, delay time.Duration) []time.Duration {
	late := make([]time.Duration, len(l.conns))
	var all sync.WaitGroup
	for i, c := range l.conns {
		all.Go(func() {
			began := time.Now()
			_, err := c.Write(l.request)
			_, peeked := l.readers[i].Peek(1)
			late[i] = time.Since(began) - delay
			if err := cmp.Or(err, peeked, skipAnswer(l.readers[i])); err != nil {
				tb.Error(err)
			}
		})
	}
	all.Wait()
	return late
}
