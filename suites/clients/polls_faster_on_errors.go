package clients

import "time"

func init() {
	register(Client{
		Name:     "polls-faster-on-errors",
		Summary:  "polls every second, and four times as often while it fails, to be there when the server is",
		Contract: withPolling,
		Breaks:   []string{"poll-cadence"},
		Call: poller(func(failures int) time.Duration {
			if failures > 0 {
				return 250 * time.Millisecond
			}
			return time.Second
		}),
	})
}
