package incident

import (
	"fmt"
	"io"
	"time"
)

// S2 writes the webhooks of a vendor that sends a failed one again after 5 s, every time and for good. Two minutes of 503
// after a deploy fill its backlog; the receiver then answers 503 to what it cannot take for another ten minutes. Each webhook
// carries an id. A second vendor retries as the standard for webhooks says.
func S2(w io.Writer, seed uint64) (Truth, error) {
	l := newLog(seed)
	t := Truth{Redundant: map[string]int{}, Loops: 1, Lawful: []string{"192.0.2.20"}}
	down := func(at time.Duration) bool { return at >= 30*time.Minute && at < 42*time.Minute }
	var times []time.Duration
	send := func(at time.Duration, vendor, event int) {
		status := 200
		if down(at) {
			status = 503
		}
		l.add(at, vendor, "POST /hooks/orders", status)
		l.requests[len(l.requests)-1].event = int32(event)
	}
	event := 0
	for at := time.Duration(0); at < 60*time.Minute; at += 2 * time.Second {
		event++
		for k, again := 0, at; ; k++ {
			send(again, 0, event)
			if k > 3 { // three retries are what the contract allows
				t.Redundant["192.0.2.10"]++
				times = append(times, again)
			}
			if !down(again) {
				break
			}
			if t.Start.IsZero() {
				t.Start = began.Add(again)
			}
			again += 5*time.Second + 4*time.Millisecond
		}
		if event%5 == 0 {
			send(at+time.Second, 1, event)
			for k, again := 0, at+time.Second; down(again) && k < 3; k++ {
				again += []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute}[k]
				send(again, 1, event)
			}
		}
	}
	t.Peak, t.Lines = peak(times), len(l.requests)
	return t, l.json(w, func(r request) string {
		return fmt.Sprintf(`"remote_addr":"192.0.2.%d0","http_webhook_id":"evt_%d_%06d"`, r.client+1, r.client, r.event)
	})
}
