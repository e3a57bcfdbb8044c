package playbook_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert/internal/incident"
	"github.com/retrygate/retrygate/assert/playbook"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// BenchmarkLog823k reads the log of incident S0 in combined format and judges every client of it. Budget: 4 s and 400 MB.
// The yardstick is awk counting the requests and statuses of each client in the same file: xawk is how many times as long
// this takes.
func BenchmarkLog823k(b *testing.B) {
	file := filepath.Join(b.TempDir(), "access.log")
	truth := writeS0(b, file)
	awk := awkTime(b, file)
	debug.FreeOSMemory()
	var peak uint64
	for b.Loop() {
		r, err := accesslog.Open([]accesslog.Input{accesslog.File(file)}, accesslog.Options{})
		if err != nil {
			b.Fatal(err)
		}
		v := playbook.New(playbook.Options{})
		err = r.Each(func(e *journal.Entry) bool {
			if v.Add(e); e.Seq&(1<<16-1) == 0 {
				peak = max(peak, inUse())
			}
			return true
		})
		if err != nil {
			b.Fatal(err)
		}
		s := r.Summary()
		f := v.Findings(playbook.Facts{Began: s.Began, Until: s.Until, Resolution: s.Resolution})
		peak = max(peak, inUse())
		if f.Redundant != truth.Total() {
			b.Fatalf("%d redundant requests, want %d", f.Redundant, truth.Total())
		}
	}
	took := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(took, "s/log")
	b.ReportMetric(float64(peak)/1e6, "MB")
	if awk > 0 {
		b.ReportMetric(took/awk.Seconds(), "xawk")
	}
}

func writeS0(b *testing.B, file string) incident.Truth {
	out, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	truth, err := incident.S0(out, 1)
	if err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return truth
}

// awkTime is how long awk takes to count; 0 without awk.
func awkTime(b *testing.B, file string) time.Duration {
	path, err := exec.LookPath("awk")
	if err != nil {
		b.Log("no yardstick: awk is not installed")
		return 0
	}
	start := time.Now()
	out, err := exec.Command(path, `{n[$1]++; s[$1 " " $9]++} END {for (c in n) if (n[c] > 1000) print n[c], c}`, file).Output()
	if err != nil || len(out) == 0 {
		b.Logf("no yardstick: awk: %v", err)
		return 0
	}
	return time.Since(start)
}

// inUse is what the process has taken from the system and not given back.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}
