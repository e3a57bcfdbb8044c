package faultserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// history puts five exchanges into the journal, one a second. The last is still going on.
func history(j *journal.Journal) (open *journal.Exchange) {
	for _, e := range []journal.Entry{
		{Client: "a", Method: "GET", Path: "/a", Status: 200},
		{Client: "a", Method: "POST", Path: "/a/b", Status: 503, Rule: "out", Fault: "status"},
		{Client: "b", Method: "GET", Path: "/c", Status: 429, Rule: "slow", Fault: "latency+status"},
		{Client: "b", Method: "GET", Path: "/a/d", Rule: "cut", Fault: "reset", Cut: true},
		{Client: "c", Method: "PUT", Path: "/z%20", Rule: "stuck", Fault: "hang", Open: true},
	} {
		x := j.Arrive(journal.Arrival{Client: e.Client, Method: e.Method, Path: e.Path})
		if e.Fault != "" {
			x.Acted(e.Rule, e.Fault)
		}
		if e.Status > 0 {
			x.Answered(e.Status, "")
		}
		if open = x; !e.Open {
			x.Close()
			time.Sleep(time.Second)
		}
	}
	return open
}

// filters say which of the five entries each parameter takes.
var filters = []struct {
	parameter string
	values    []string
	want      []uint64
}{
	{"client", []string{"a"}, []uint64{1, 2}},
	{"client", []string{"a", "c"}, []uint64{1, 2, 5}},
	{"client", []string{"A"}, nil},
	{"path", []string{"/a"}, []uint64{1}},
	{"path", []string{"/z%20"}, []uint64{5}},
	{"path-prefix", []string{"/a"}, []uint64{1, 2, 4}},
	{"path-prefix", []string{"/a/", "/c"}, []uint64{2, 3, 4}},
	{"method", []string{"POST"}, []uint64{2}},
	{"method", []string{"post", "put"}, []uint64{2, 5}},
	{"status", []string{"503"}, []uint64{2}},
	{"status", []string{"2xx", "4xx"}, []uint64{1, 3}},
	{"status", []string{"none"}, []uint64{4}}, // the open one may still get one
	{"fault", []string{"status"}, []uint64{2, 3}},
	{"fault", []string{"latency+status"}, []uint64{3}},
	{"fault", []string{"hang", "reset"}, []uint64{4, 5}},
	{"rule", []string{"out", "stuck"}, []uint64{2, 5}},
	{"since", []string{"3"}, []uint64{4, 5}},
	{"since", []string{"9"}, nil},
	{"from", []string{"2s"}, []uint64{3, 4, 5}},
	{"from", []string{"2000-01-01T00:00:03Z"}, []uint64{4, 5}}, // virtual time begins in 2000
	{"to", []string{"2s"}, []uint64{1, 2}},
	{"to", []string{"2000-01-01T02:00:01+02:00"}, []uint64{1}},
}

func TestFiltersTakeWhatTheySay(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		defer history(w.Journal()).Close()
		for _, f := range filters {
			values := []string{}
			for _, v := range f.values {
				values = append(values, f.parameter, v)
			}
			request := "GET /v1/journal" + query(values...)
			var entries []struct{ Seq uint64 }
			p.ask(t, request, "").read(t, &entries)
			var got []uint64
			for _, e := range entries {
				got = append(got, e.Seq)
			}
			if !slices.Equal(got, f.want) {
				t.Errorf("%s: got %d, want %d", request, got, f.want)
			}

			request = "GET /v1/wait" + query(append(values, "requests", "1", "timeout", "1ms")...)
			var now struct {
				Requests int
				Reached  struct{ Requests int }
			}
			p.ask(t, request, "").read(t, &now)
			if now.Requests+now.Reached.Requests != len(f.want) {
				t.Errorf("%s: %+v, want %d", request, now, len(f.want))
			}
		}
		both := p.ask(t, "GET /v1/journal"+query("client", "a", "status", "503", "from", "1s", "to", "2s"), "")
		if strings.Count(string(both.body), `"seq"`) != 1 {
			t.Errorf("filters together: %s", both.body)
		}
		// A time of the run and a date cannot be told apart without knowing when the run began.
		if mixed := p.ask(t, "GET /v1/journal"+query("from", "1s", "to", "2100-01-01T00:00:00Z"), ""); mixed.status != 200 {
			t.Errorf("a time and a date: %d %s", mixed.status, mixed.body)
		}
	})
}

// A parameter that is described has a row here that shows what it does.
func TestEveryDescribedParameterIsHonoured(t *testing.T) {
	shown := map[string]string{
		"putPlan.reset": "TestPlansCanBeginARun", "deletePlan.reset": "TestPlansCanBeginARun", "startScenario.reset": "TestPlansCanBeginARun",
		"startScenario.name": "TestScenariosAreListedAndStarted",
		"getJournal.limit":   "TestJournalIsReadPageByPage", "getJournal.follow": "TestFollowStreamsEntriesAsTheyEnd",
		"wait.requests": "TestWait", "wait.idle": "TestWait", "wait.timeout": "TestWait",
	}
	for _, f := range filters {
		shown["getJournal."+f.parameter], shown["wait."+f.parameter] = "filters", "filters"
	}
	piloted(t, func(t *testing.T, _ *world, p *pilot) {
		for _, operations := range p.doc["paths"].(map[string]any) {
			for _, o := range operations.(map[string]any) {
				o := o.(map[string]any)
				parameters, _ := o["parameters"].([]any)
				for _, one := range parameters {
					name := fmt.Sprintf("%s.%s", o["operationId"], one.(map[string]any)["name"])
					if shown[name] == "" {
						t.Errorf("%s is described, but no test shows what it does", name)
					}
					delete(shown, name)
				}
			}
		}
		for name := range shown {
			t.Errorf("%s is not described", name)
		}
	})
}

func TestJournalIsReadPageByPage(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		defer history(w.Journal()).Close()
		var got []uint64
		for since := "0"; ; {
			var page []struct{ Seq uint64 }
			r := p.ask(t, "GET /v1/journal"+query("limit", "2", "since", since), "")
			r.read(t, &page)
			if len(page) == 0 {
				if string(r.body) != "[\n]\n" {
					t.Errorf("an empty page is %q", r.body)
				}
				break
			}
			for _, e := range page {
				got = append(got, e.Seq)
			}
			since = fmt.Sprint(page[len(page)-1].Seq)
		}
		if !slices.Equal(got, []uint64{1, 2, 3, 4, 5}) {
			t.Errorf("got %d", got)
		}
	})
}

// What comes as JSON Lines is what a judge reads. What was left out counts as lost there, unless it was whole clients.
func TestJournalAsLines(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		defer history(w.Journal()).Close()
		all := w.Journal().History()
		for _, c := range []struct {
			query string
			keep  func(e journal.Entry) bool
			lost  uint64
		}{
			{"", func(journal.Entry) bool { return true }, 0},
			{"?client=a", func(e journal.Entry) bool { return e.Client == "a" }, 0},
			{"?client=a&client=b&status=429", func(e journal.Entry) bool { return e.Status == 429 }, 3},
			{"?limit=2", func(e journal.Entry) bool { return e.Seq < 3 }, 3},
		} {
			r := p.ask(t, "GET /v1/journal"+c.query, "", "Accept", "application/x-ndjson")
			want := all
			want.Lost, want.Entries = c.lost, nil
			for _, e := range all.Entries {
				if c.keep(e) {
					want.Entries = append(want.Entries, e)
				}
			}
			var lines strings.Builder
			if err := journal.Write(&lines, want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(lines.String(), string(r.body)); diff != "" || r.header.Get("Content-Type") != "application/x-ndjson" {
				t.Errorf("%s: %s", c.query, diff)
			}
		}
	})
}

func TestJournalComesAsAccepted(t *testing.T) {
	piloted(t, func(t *testing.T, _ *world, p *pilot) {
		for _, c := range []struct{ accept, want, follow string }{
			{"", "application/json", "application/x-ndjson"},
			{"*/*", "application/json", "application/x-ndjson"},
			{"application/*;q=0.5", "application/json", "application/x-ndjson"},
			{"application/x-ndjson", "application/x-ndjson", "application/x-ndjson"},
			{"text/html, application/x-ndjson;q=0.9, */*;q=0.1", "application/x-ndjson", "application/x-ndjson"},
			{"application/json, application/x-ndjson;q=0", "application/json", "application/problem+json"},
			{"text/html", "application/problem+json", "application/problem+json"},
		} {
			for query, want := range map[string]string{"": c.want, "?follow=true": c.follow} {
				answer := p.open(t, "GET /v1/journal"+query, "", "Accept", c.accept)
				answer.Body.Close()
				got := answer.Header.Get("Content-Type")
				if got != want || (answer.StatusCode == http.StatusNotAcceptable) != (want == "application/problem+json") {
					t.Errorf("Accept %q%s: %d with %s, want %s", c.accept, query, answer.StatusCode, got, want)
				}
			}
		}
	})
}

// lines reads a stream in the background, so that a test sees what has come until now.
type lines struct {
	answer *http.Response
	got    chan string // closed at the end
}

func (p *pilot) stream(t *testing.T, request string) *lines {
	t.Helper()
	l := &lines{p.open(t, request, ""), make(chan string, 1000)}
	if l.answer.StatusCode != 200 {
		t.Fatalf("%s: %d", request, l.answer.StatusCode)
	}
	go func() {
		defer close(l.got)
		for in := bufio.NewScanner(l.answer.Body); in.Scan(); {
			l.got <- in.Text()
		}
	}()
	return l
}

// seqs returns those that have come since it was last asked.
func (l *lines) seqs(t *testing.T) (seqs []uint64, ended bool) {
	t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	for {
		select {
		case line, ok := <-l.got:
			if !ok {
				return seqs, true
			}
			var e struct{ Seq, Journal uint64 }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Errorf("%v in %q", err, line)
			}
			if e.Journal == 0 {
				seqs = append(seqs, e.Seq)
			}
		default:
			return seqs, false
		}
	}
}

func TestFollowStreamsEntriesAsTheyEnd(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		open := history(w.Journal())
		all, of, few := p.stream(t, "GET /v1/journal?follow=true"), p.stream(t, "GET /v1/journal?follow=true&client=c&since=2"), p.stream(t, "GET /v1/journal?follow=true&limit=6")
		expect := func(l *lines, end bool, want ...uint64) {
			t.Helper()
			if got, ended := l.seqs(t); !slices.Equal(got, want) || ended != end {
				t.Errorf("got %d (ended: %v), want %d (%v)", got, ended, want, end)
			}
		}
		expect(all, false, 1, 2, 3, 4)
		expect(of, false)
		expect(few, false, 1, 2, 3, 4)

		late := w.Journal().Arrive(journal.Arrival{Client: "c"})
		expect(all, false)
		late.Close()
		expect(all, false, 6)
		expect(of, false, 6)
		open.Close()
		expect(all, false, 5)
		expect(of, false, 5)
		expect(few, true, 6, 5)

		of.answer.Body.Close() // a client that leaves is noticed
		time.Sleep(time.Second)
		w.do(t, "GET /")
		expect(all, false, 7)
		p.ask(t, "POST /v1/reset", "")
		expect(all, true)
	})
}

func TestFollowedHistoryCanBeJudged(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		defer history(w.Journal()).Close()
		l := p.open(t, "GET /v1/journal?follow=true", "")
		late, early := w.Journal().Arrive(journal.Arrival{}), w.Journal().Arrive(journal.Arrival{})
		early.Close()
		time.Sleep(time.Second)
		late.Close()
		time.Sleep(time.Second)
		p.ask(t, "POST /v1/reset", "")
		h, err := journal.Read(l.Body)
		l.Body.Close()
		if err != nil || len(h.Entries) != 6 || h.Entries[5].Seq != 7 || h.Lost != 1 {
			t.Errorf("%v: %+v", err, h)
		}
	})
}

// A stream ends with the API, and with the server.
func TestStreamsAndWaitsEndWithTheirServer(t *testing.T) {
	for name, end := range map[string]func(w *world, p *pilot){
		"control": func(_ *world, p *pilot) { p.Close() },
		"server":  func(w *world, _ *pilot) { w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			piloted(t, func(t *testing.T, w *world, p *pilot) {
				l := p.stream(t, "GET /v1/journal?follow=true")
				waited := make(chan int, 1)
				go func() {
					r, _ := http.NewRequest("GET", p.at+"/v1/wait?requests=1&timeout=1h", nil)
					answer, err := p.client.Do(r)
					if err != nil {
						waited <- 0
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					waited <- answer.StatusCode
				}()
				time.Sleep(time.Second)
				began := time.Now()
				end(w, p)
				if code := <-waited; code != 0 && code != 503 {
					t.Errorf("the wait ended with %d", code)
				}
				if _, ended := l.seqs(t); !ended || time.Since(began) > 2*time.Second {
					t.Errorf("ended: %v, after %v", ended, time.Since(began))
				}
			})
		})
	}
}
