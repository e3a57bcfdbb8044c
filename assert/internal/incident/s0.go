package incident

import (
	"fmt"
	"io"
	"time"
)

const (
	s0Lines     = 823_000
	s0Loops     = 48
	s0Loopers   = 40 // eight of them loop twice
	s0Requests  = 800_000
	s0Drivers   = 1500
	status0     = "POST /driver/status"
	nat0        = 100_000 // clients beyond the drivers
	poller0     = 100_001
	busy0       = 100_002
	activeHours = 12
)

// S0 writes four days of a driver app's backend as nginx does, 823,000 lines. Forty drivers' apps loop on a 400, 48 times
// in all, every 100 ms for half an hour or so, four at once at the worst: 2,400 requests a minute. Around them drivers send
// a few requests a day, a depot has many behind one address, a board polls, and a partner sends in bursts.
func S0(w io.Writer, seed uint64) (Truth, error) {
	l := newLog(seed)
	t := Truth{Lines: s0Lines, Redundant: map[string]int{}, Loops: s0Loops, Lawful: []string{name0(nat0), name0(poller0), name0(busy0)}}
	var times []time.Duration
	first := time.Duration(1 << 62)
	for i, n := range s0Lengths(l) {
		looper := i % s0Loopers
		at := s0Start(l, i)
		first = min(first, at)
		for k := range n {
			l.add(at, looper, status0, 400)
			if k > 0 {
				times = append(times, at)
			}
			at += 95*time.Millisecond + time.Duration(l.random.Int64N(int64(10*time.Millisecond)))
		}
		t.Redundant[name0(looper)] += n - 1
	}
	t.Peak, t.Start = peak(times), began.Add(first.Truncate(time.Second))
	s0Lawful(l)
	return t, l.combined(w, name0)
}

// s0Lengths draws how many requests each loop makes: exponential, and 800,000 in all.
func s0Lengths(l *log) []int {
	lengths, left := make([]int, s0Loops), s0Requests
	for i := range lengths {
		mean := float64(left) / float64(s0Loops-i)
		n := int(max(0.2, min(2.5, l.random.ExpFloat64())) * mean)
		if i == s0Loops-1 {
			n = left
		}
		lengths[i] = min(n, left-(s0Loops-i-1)*1000)
		left -= lengths[i]
	}
	return lengths
}

// s0Start draws when a loop begins. There are four lanes with three slots on each of four days; in one slot all four begin
// within a minute.
func s0Start(l *log, i int) time.Duration {
	lane, slot := i%4, i/4
	day, third := slot/3, slot%3
	from := time.Duration(day)*24*time.Hour + time.Duration(7+4*third)*time.Hour
	if slot == 7 {
		return from + time.Duration(lane)*15*time.Second
	}
	return l.between(from, from+90*time.Minute)
}

// s0Lawful adds what is as it should be, up to the number of lines.
func s0Lawful(l *log) {
	for day := range 4 {
		from := time.Duration(day)*24*time.Hour + 7*time.Hour
		to := from + activeHours*time.Hour
		for at := from; at < to; at += 2 * time.Minute {
			l.add(at, poller0, "GET /dispatch/board", 200)
		}
		for range 750 { // many people behind one address
			what, status := status0, 200
			switch l.random.IntN(20) {
			case 0:
				status = 400
			case 1, 2, 3, 4:
				what = fmt.Sprintf("GET /driver/jobs/%d", l.random.IntN(300))
			}
			l.add(l.between(from, to), nat0, what, status)
		}
		for burst := range 2 { // 150 a minute, all of them welcome
			at := from + time.Duration(3+5*burst)*time.Hour
			for range 750 {
				l.add(at, busy0, "POST /partner/positions", 202)
				at += 400 * time.Millisecond
			}
		}
	}
	for s0Lines > len(l.requests) {
		driver := l.random.IntN(s0Drivers)
		at := time.Duration(l.random.IntN(4))*24*time.Hour + l.between(7*time.Hour, 19*time.Hour)
		if driver < s0Loopers { // whoever loops does nothing else, and is in no doubt
			driver += s0Loopers
		}
		status := 200
		if l.random.IntN(50) == 0 {
			status = 400
		}
		l.add(at, driver, status0, status)
	}
}

// name0 is the address of a client.
func name0(client int) string {
	if client >= nat0 {
		return fmt.Sprintf("198.51.100.%d", client-nat0+1)
	}
	return fmt.Sprintf("10.%d.%d.%d", 20+client/62500, client/250%250, client%250+1)
}
