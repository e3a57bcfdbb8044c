package accesslog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// line is one of nginx, written at a second of 2026-01-02 03:04, about a request to path that took so many seconds.
func line(second float64, path string, took float64) string {
	return fmt.Sprintf("203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] \"GET %s HTTP/1.1\" 200 5 \"-\" \"-\" %.3f %.3f\n", path, took, 1767323000+second)
}

func paths(t *testing.T, inputs ...accesslog.Input) (string, accesslog.Summary) {
	t.Helper()
	entries, s := read(t, accesslog.Options{}, inputs...)
	var all []string
	for _, e := range entries {
		all = append(all, strings.TrimPrefix(e.Path, "/"))
	}
	return strings.Join(all, " "), s
}

// TestArrival holds entries to the order in which requests came, not that in which they were over.
func TestArrival(t *testing.T) {
	entries, _ := read(t, accesslog.Options{}, text("log", line(1, "/b", 0.5)+line(2, "/c", 0)+line(60, "/a", 59.75)+line(61, "/d", 0)))
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s+%s", e.Path, e.At, e.Took))
	}
	// All of them are held back until nothing can come before them, which needs the log's own word on how long requests take.
	want := []string{"/a 0s+59.75s", "/b 250ms+500ms", "/c 1.75s+0s", "/d 1m0.75s+0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMerge(t *testing.T) {
	got, s := paths(t, text("two", line(2, "/2", 0)+line(4, "/4", 0)+line(6, "/6", 0)), text("empty", ""), text("one", line(1, "/1", 0)+line(3, "/3", 0)+line(4, "/5", 0)))
	if got != "1 2 3 4 5 6" || s.Entries != 6 || s.Late != 0 {
		t.Errorf("got %s, %+v", got, s)
	}
}

func TestCompressed(t *testing.T) {
	plain := line(1, "/1", 0) + line(2, "/2", 0)
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	io.WriteString(w, plain)
	w.Close()
	z, _ := zstd.NewWriter(&zst)
	io.WriteString(z, plain)
	z.Close()
	for name, packed := range map[string]string{"gzip": gz.String(), "zstd": zst.String(), "two members": gz.String() + gz.String()} {
		if got, _ := paths(t, text(name, packed)); !strings.HasPrefix(got, "1 ") {
			t.Errorf("%s: got %s", name, got)
		}
	}
	var long bytes.Buffer
	w = gzip.NewWriter(&long)
	for i := range 20000 {
		io.WriteString(w, line(float64(i), fmt.Sprint("/", i*7919%10007), 0))
	}
	w.Close()
	entries, s := read(t, accesslog.Options{}, text("cut.gz", long.String()[:long.Len()/2]))
	if len(entries) < 1000 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "cut.gz: the end of the log is missing") {
		t.Errorf("a log that was cut off: %d entries, notes %q", len(entries), s.Notes)
	}
}

// TestMalformed feeds what logs really hold beside requests: all of it is counted, and nothing of it stops the reading.
func TestMalformed(t *testing.T) {
	good := line(1, "/a", 0)
	rows := []struct {
		name, log string
		entries   int
		malformed []string // how they are shown
	}{
		{"CRLF, a byte order mark, blank lines", "\ufeff" + strings.ReplaceAll(good, "\n", "\r\n") + "\r\n\r\n" + good, 2, nil},
		{"no newline at the end", good + strings.TrimSpace(good), 2, nil},
		{"a line that was cut off", good + good[:60] + "\n" + good, 2, []string{`log:2: no known format: "203.0.113.7 - -`}},
		{"binary junk", good + "\x00\x01\xff\xfe\x1f\x8b\n" + good, 2, []string{`log:2: no known format: "\x00\x01\xff\xfe\x1f\x8b"`}},
		{"a line of 10 MB", good + strings.Repeat("x", 10<<20) + "\n" + good, 2, []string{"log:2: longer than 1024 KB"}},
		{"a line of 10 MB at the end", good + strings.Repeat("x", 10<<20), 1, []string{"log:2: longer than 1024 KB"}},
		{"another format behind", good + accesslog.Formats.All()[0].Example + good, 3, nil},
		{"more than are shown", good + strings.Repeat("junk\n", 7), 1, slices.Repeat([]string{"log:"}, 7)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			entries, s := read(t, accesslog.Options{}, text("log", row.log))
			if len(entries) != row.entries || s.Lines() != len(row.malformed) || len(s.Malformed) != min(5, len(row.malformed)) {
				t.Fatalf("%d entries and %d malformed lines, want %d and %d: %q", len(entries), s.Lines(), row.entries, len(row.malformed), s.Malformed)
			}
			for i, shown := range s.Malformed {
				if !strings.HasPrefix(shown, row.malformed[i]) {
					t.Errorf("shown as %q, want %q", shown, row.malformed[i])
				}
			}
		})
	}
}

// TestClockBackwards sets the clock back for good: what follows is late once, and then in order again.
func TestClockBackwards(t *testing.T) {
	var log strings.Builder
	for i := range 300 {
		log.WriteString(line(100000+float64(i), "/before", 0))
	}
	for i := range 300 {
		log.WriteString(line(float64(i), "/after", 0))
	}
	entries, s := read(t, accesslog.Options{}, text("log", log.String()))
	if len(entries) != 600 || s.Late < 1 {
		t.Errorf("%d entries, %d late", len(entries), s.Late)
	}
	// Swapped by less than the window, they are put right.
	if got, s := paths(t, text("log", line(10, "/2", 0)+line(9.5, "/1", 0)+line(11, "/3", 0))); got != "1 2 3" || s.Late != 0 {
		t.Errorf("got %s, %d late", got, s.Late)
	}
}

func TestNothingGood(t *testing.T) {
	rows := []struct{ log, want string }{
		{"", "there is no request in the log"},
		{"# only\n# comments\n", "there is no request in the log"},
		{"hello\nworld\n", `log: none of 2 lines could be read as an access log; line 1: no known format: "hello"`},
		{strings.Repeat("\x00\n", 50_000), "log: none of 10000 lines could be read"},
		{`{"log":{"version":"1.2","pages":[]}}`, "log: not an HTTP archive: no log.entries"},
		{`{"log":{"version":"1.2","entries":[{"startedDateTime":"then"}]}}`, "log: none of 1 lines could be read as an access log; line entry 1: startedDateTime"},
	}
	for _, row := range rows {
		if _, _, err := try(accesslog.Options{}, text("log", row.log)); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%.40q: got error %v, want %s", row.log, err, row.want)
		}
	}
	if _, _, err := try(accesslog.Options{Format: "envoy"}, text("log", line(1, "/", 0))); err == nil || !strings.Contains(err.Error(), "not a line of format envoy") {
		t.Errorf("a forced format that does not fit: %v", err)
	}
}

func TestOptions(t *testing.T) {
	_, err := accesslog.Open([]accesslog.Input{text("log", ""), {Name: "gone", Open: func() (io.ReadCloser, error) { return nil, errors.New("no such file") }}},
		accesslog.Options{Format: "combine", Client: []string{"remot"}, Fields: map[string]string{"tim": "x", "path": "p:ms", "user": ""}})
	for _, want := range []string{`unknown log format "combine"; did you mean combined?`, `client "remot": want remote, user or header:NAME; did you mean remote?`,
		`unknown field "tim"; did you mean time?`, `field path: "p:ms": behind a colon`, "field user: name the key"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
}

// TestIdentity tells clients apart as the options say, and lets nothing secret through.
func TestIdentity(t *testing.T) {
	const log = `{"ts":"2026-01-02T03:04:05.500Z","ip":"203.0.113.7:4711","u":"ann","method":"POST","path":"/a?api_key=s3cret&page=2&s3cretToken","status":200,"http_x_api_key":"s3cret","lat":250,"request_body_hash":"abc"}`
	fields := map[string]string{"user": "u", "duration": "lat:us"}
	rows := []struct {
		client []string
		want   string
	}{
		{nil, "203.0.113.7 ann"},
		{[]string{"remote"}, "203.0.113.7"},
		{[]string{"header:X-Api-Key"}, "x-api-key:1ec1c26b50d5"},
		{[]string{"user", "header:x-missing"}, "ann"},
		{[]string{"header:x-missing"}, "-"},
	}
	for _, row := range rows {
		entries, _ := read(t, accesslog.Options{Client: row.client, Fields: fields}, text("log", log))
		e := entries[0]
		if e.Client != row.want || e.Took != 250*time.Microsecond || !e.BodyWhole || e.BodySum == 0 {
			t.Errorf("client %q: got %q: %+v", row.client, e.Client, e)
		}
		if all := fmt.Sprintf("%+v", e); strings.Contains(all, "s3cret") || !strings.Contains(e.Query, "page=2") {
			t.Errorf("the secret is told, or too much is hidden: %s", all)
		}
	}
}

// TestMemory reads a log far larger than what may be kept of it.
func TestMemory(t *testing.T) {
	const lines = 100_000
	pr, pw := io.Pipe()
	go func() {
		for i := range lines {
			io.WriteString(pw, line(float64(i)/10, fmt.Sprint("/", i), 0.01))
		}
		pw.Close()
	}()
	r, err := accesslog.Open([]accesslog.Input{{Name: "pipe", Open: func() (io.ReadCloser, error) { return pr, nil }}}, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var most uint64
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq%20_000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if s := r.Summary(); s.Entries != lines || most > 64<<20 {
		t.Errorf("%d entries, %d MB", s.Entries, most>>20)
	}
}

// TestStopsEarly gives the inputs back when nobody wants more.
func TestStopsEarly(t *testing.T) {
	closed := 0
	in := accesslog.Input{Name: "log", Open: func() (io.ReadCloser, error) {
		return closer{strings.NewReader(line(1, "/", 0) + line(2, "/", 0)), &closed}, nil
	}}
	r, err := accesslog.Open([]accesslog.Input{in, in}, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range r.All() {
		break
	}
	if closed != 2 {
		t.Errorf("%d of 2 inputs were closed", closed)
	}
}

type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

// TestRoundedOrder: requests that a client makes one after the other never seem to overlap, however times are rounded.
func TestRoundedOrder(t *testing.T) {
	var log strings.Builder
	at := 0.0
	for i := range 500 {
		took := float64(i*37%2900) / 1000
		at += took + 0.013
		fmt.Fprintf(&log, "203.0.113.7 - - [%s] \"GET / HTTP/1.1\" 503 5 \"-\" \"-\" %.3f\n",
			time.UnixMilli(1767323000000+int64(at*1000)).UTC().Format("02/Jan/2006:15:04:05 -0700"), took)
	}
	entries, s := read(t, accesslog.Options{}, text("log", log.String()))
	for i := 1; i < len(entries); i++ {
		if gap := entries[i].At - entries[i-1].End(); gap < 0 || gap > 2*time.Second {
			t.Fatalf("entry %d came %s after the one before", i, gap)
		}
	}
	if s.Late > 0 || s.Resolution != time.Second {
		t.Errorf("%+v", s)
	}
}
