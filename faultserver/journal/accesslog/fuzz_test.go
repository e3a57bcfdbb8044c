package accesslog_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

func FuzzAny(f *testing.F)      { fuzz(f, "") }
func FuzzALB(f *testing.F)      { fuzz(f, "alb") }
func FuzzCaddy(f *testing.F)    { fuzz(f, "caddy") }
func FuzzCombined(f *testing.F) { fuzz(f, "combined") }
func FuzzEnvoy(f *testing.F)    { fuzz(f, "envoy") }
func FuzzHAProxy(f *testing.F)  { fuzz(f, "haproxy") }
func FuzzHAR(f *testing.F)      { fuzz(f, "har") }
func FuzzJSON(f *testing.F)     { fuzz(f, "json") }
func FuzzJournal(f *testing.F)  { fuzz(f, "journal") }
func FuzzW3C(f *testing.F)      { fuzz(f, "w3c") }

// fuzz feeds a format anything: what comes out makes sense, and every line is an entry, malformed or no request.
func fuzz(f *testing.F, format string) {
	for _, known := range accesslog.Formats.All() {
		if known.Name == format || format == "" {
			f.Add(known.Example)
			f.Add(strings.ReplaceAll(known.Example, "\n", "\r\n"))
			f.Add(known.Example[:len(known.Example)*2/3])
			f.Add(known.Example + "\x00\xff\x1f\x8b\n" + known.Example)
		}
	}
	f.Fuzz(func(t *testing.T, log string) {
		entries, s, err := try(accesslog.Options{Format: format, Client: []string{"remote", "user", "header:user-agent"}}, text("log", log))
		if err != nil && len(entries) > 0 && format != "har" && !errors.Is(err, errors.ErrUnsupported) && !strings.HasPrefix(log, "\x1f\x8b") {
			t.Fatalf("an error behind %d entries: %v", len(entries), err)
		}
		if s.Entries != len(entries) || s.Lines()+len(entries) > strings.Count(log, "\n")+1 && format != "har" && format != "" {
			t.Fatalf("%d entries and %d malformed lines out of %d lines; summary says %d", len(entries), s.Lines(), strings.Count(log, "\n")+1, s.Entries)
		}
		for i, e := range entries {
			switch {
			case e.Seq != uint64(i+1), e.Took < 0, e.Took > 365*24*time.Hour, e.Status < 0, e.Status > 999:
				t.Fatalf("entry %d makes no sense: %+v", i, e)
			case e.Client == "" && !s.Whole, e.Gone < 0 && !s.Whole:
				t.Fatalf("entry %d has no client or an end before the start: %+v", i, e)
			case len(e.Path) > 4096 && !s.Whole, len(e.Query) > 4096 && !s.Whole:
				t.Fatalf("entry %d keeps too much: %d bytes", i, len(e.Path)+len(e.Query))
			}
		}
	})
}
