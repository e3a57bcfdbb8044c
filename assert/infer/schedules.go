package infer

import (
	"math"
	"time"
)

// published are schedules of webhook senders that their documentation lists, each as read in 2026.
var published = []struct {
	name  string
	waits []time.Duration
}{
	{"Standard Webhooks", hours(5*sec, 5*minute, 30*minute, 2, 5, 10, 14, 20, 24)},
	{"Svix", hours(5*sec, 5*minute, 30*minute, 2, 5, 10, 10)},
	{"Wix", hours(minute, 10*minute, 1, 2, 2, 2, 4, 4, 4, 8, 8, 12)},
	{"Circle CPN", hours(sec, 10*sec, 30*sec, minute, 15*minute, 1, 3, 5, 6, 10, 11)},
	{"Truecaller", hours(2*minute, 6*minute, 30*minute, 1, 5, 24, 48)},
	{"Constant Contact", hours(15*minute, 45*minute, 2, 3, 6, 12, 24, 24)},
	{"Juspay", hours(minute, 5*minute, 5*minute, 10*minute, 10*minute, 10*minute, 10*minute, 10*minute, 1, 1, 1, 1, 1, 6, 6, 6)},
}

const (
	minute = 1.0 / 60
	sec    = minute / 60
)

func hours(list ...float64) []time.Duration {
	waits := make([]time.Duration, len(list))
	for i, h := range list {
		waits[i] = time.Duration(math.Round(h*3600)) * time.Second
	}
	return waits
}

// namedSchedules lists the published schedules that begin with these waits, in seconds, to a tenth.
func namedSchedules(waits []float64) (names []string) {
	for _, p := range published {
		same := len(waits) <= len(p.waits)
		for k := 0; same && k < len(waits); k++ {
			want := p.waits[k].Seconds()
			same = math.Abs(waits[k]-want) <= 0.1*want
		}
		if same {
			names = append(names, p.name)
		}
	}
	return names
}
