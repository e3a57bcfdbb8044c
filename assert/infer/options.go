package infer

import "time"

// Options say how far the times can be trusted.
type Options struct {
	Lateness   time.Duration // how late the machine makes things in the mean; 0: 2 ms, as on loopback
	Stall      time.Duration // how late it makes one thing in a hundred; 0: not known
	Resolution time.Duration // what times are rounded down to, as in access logs; 0: not at all
}
