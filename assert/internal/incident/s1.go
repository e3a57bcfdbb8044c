package incident

import (
	"fmt"
	"io"
	"time"
)

// S1 writes two hours of an internal API as JSON lines with API keys: a script sends every failed request again at once, 40
// times a second for three minutes, among others that are lawful: one asks 90 times a minute, one polls through the outage,
// one retries with backoff. Keys are named as the reader hashes them by name.
func S1(w io.Writer, seed uint64, hashed func(key string) string) (Truth, error) {
	l := newLog(seed)
	const script, busy, poller, polite = 0, 1, 2, 3
	failing := func(at time.Duration) bool { return at >= 40*time.Minute && at < 43*time.Minute }
	status := func(at time.Duration) int {
		if failing(at) {
			return 503
		}
		return 200
	}
	end := 2 * time.Hour
	for at := time.Duration(0); at < end; at += 667 * time.Millisecond {
		l.add(at, busy, fmt.Sprintf("GET /v1/items/%d", l.random.IntN(5000)), status(at))
	}
	for at := time.Second; at < end; at += 5 * time.Second {
		l.add(at, poller, "GET /v1/changes", status(at))
	}
	for at := 2 * time.Second; at < end; at += time.Minute {
		l.add(at, polite, "GET /v1/report", status(at))
		if failing(at) {
			l.add(at+1200*time.Millisecond, polite, "GET /v1/report", 503)
			l.add(at+3900*time.Millisecond, polite, "GET /v1/report", 503)
		}
	}
	t := Truth{Redundant: map[string]int{}, Loops: 1, Lawful: []string{hashed(key1(busy)), hashed(key1(poller)), hashed(key1(polite))}}
	var times []time.Duration
	for at := 3 * time.Second; at < end; at += 10 * time.Second {
		if !failing(at) {
			l.add(at, script, "POST /v1/reports", 200)
			continue
		}
		t.Start = began.Add(at)
		for k := 0; failing(at); k++ {
			l.add(at, script, "POST /v1/reports", 503)
			if k > 3 { // three retries are what the contract allows
				times = append(times, at)
			}
			at += 25 * time.Millisecond
		}
	}
	t.Redundant[hashed(key1(script))], t.Peak, t.Lines = len(times), peak(times), len(l.requests)
	return t, l.json(w, func(r request) string {
		return fmt.Sprintf(`"remote_addr":"192.0.2.10","http_x_api_key":"%s"`, key1(int(r.client)))
	})
}

func key1(client int) string { return fmt.Sprintf("k-%08d", 7919*(client+1)) }
