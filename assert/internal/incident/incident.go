// Package incident writes access logs of the three incidents that this project is made for, with the truth about them, as
// input for tests and benchmarks. The same seed writes the same log.
package incident

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// Truth is what a log holds, as only its author can know it.
type Truth struct {
	Lines     int
	Redundant map[string]int // requests that repeat a failed one and should not, by the client that loops
	Loops     int
	Peak      int       // redundant requests in the busiest minute
	Start     time.Time // of the first loop
	Lawful    []string  // clients that look busy and do nothing wrong
}

// Total is how many redundant requests there are.
func (t Truth) Total() (n int) {
	for _, each := range t.Redundant {
		n += each
	}
	return n
}

// began is when each log starts: a Monday.
var began = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// request is one line in the making.
type request struct {
	at     time.Duration // since began
	client int32
	event  int32 // what it is about, where that has a number
	what   int16 // index into lines
	status int16
}

// log collects requests and writes them in order of time.
type log struct {
	random   *rand.Rand
	requests []request
	lines    []string // method, target
}

func newLog(seed uint64) *log { return &log{random: rand.New(rand.NewPCG(seed, 6))} }

// add puts a request into the log.
func (l *log) add(at time.Duration, client int, what string, status int) {
	i := slices.Index(l.lines, what)
	if i < 0 {
		i = len(l.lines)
		l.lines = append(l.lines, what)
	}
	l.requests = append(l.requests, request{at: at, client: int32(client), what: int16(i), status: int16(status)})
}

// between draws a time.
func (l *log) between(from, to time.Duration) time.Duration {
	return from + time.Duration(l.random.Int64N(int64(to-from)))
}

// combined writes nginx's combined format, whole seconds and all.
func (l *log) combined(w io.Writer, name func(client int) string) error {
	slices.SortStableFunc(l.requests, byTime)
	out := bufio.NewWriterSize(w, 1<<16)
	names := map[int32]string{}
	stamp, second := "", time.Duration(-1)
	for _, r := range l.requests {
		if s := r.at.Truncate(time.Second); s != second {
			second, stamp = s, began.Add(s).Format("02/Jan/2006:15:04:05 -0700")
		}
		if names[r.client] == "" {
			names[r.client] = name(int(r.client))
		}
		fmt.Fprintf(out, "%s - - [%s] \"%s HTTP/1.1\" %d 57 \"-\" \"driver-app/4.2 (Android 14)\"\n", names[r.client], stamp, l.lines[r.what], r.status)
	}
	return out.Flush()
}

// json writes lines as nginx does with escape=json, to the millisecond, and what more the incident tells of a request.
func (l *log) json(w io.Writer, more func(request) string) error {
	slices.SortStableFunc(l.requests, byTime)
	out := bufio.NewWriterSize(w, 1<<16)
	for _, r := range l.requests {
		fmt.Fprintf(out, `{"msec":"%.3f","request":"%s HTTP/1.1","status":"%d","request_time":"0.004",%s}`+"\n",
			float64(began.Add(r.at).UnixMilli())/1000, l.lines[r.what], r.status, more(r))
	}
	return out.Flush()
}

func byTime(a, b request) int { return cmp.Compare(a.at, b.at) }

// peak is the most of these requests in one minute.
func peak(times []time.Duration) (most int) {
	slices.Sort(times)
	from := 0
	for i, at := range times {
		for at-times[from] >= time.Minute {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}
