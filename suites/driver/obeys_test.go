package driver

import (
	"strings"
	"testing"
	"time"
)

func TestPaceTellsWhoObeys(t *testing.T) {
	const ms = time.Millisecond
	list := func(all ...time.Duration) []time.Duration { return all }
	for name, row := range map[string]struct {
		real, fast []time.Duration
		late       int
		why        string // "": it obeys
		speed      int
	}{
		"obeys":                 {list(1000*ms, 1001*ms, 1002*ms), list(51*ms, 52*ms, 52*ms, 60*ms), 0, "", 36},
		"takes its time":        {list(1000*ms, 1001*ms, 1002*ms), list(200*ms, 201*ms, 202*ms, 210*ms), 0, "", 13},
		"waits longer":          {list(4000*ms, 4001*ms, 6000*ms), list(204*ms, 205*ms, 205*ms, 207*ms), 0, "", 36},
		"waits little":          {list(200*ms, 201*ms, 202*ms), list(10*ms, 11*ms, 12*ms, 12*ms), 0, "", 10},
		"waits for a minute":    {list(trialLimit, trialLimit, trialLimit), list(3200*ms, 3202*ms, 3203*ms, 3210*ms), 0, "", 36},
		"starved in real time":  {list(trialLimit), list(1*ms, 2*ms), 0, "did not come back within 6s in real time", 1},
		"does not":              {list(1000*ms, 1001*ms, 1002*ms), list(1000*ms, 1001*ms, 1002*ms, 1002*ms), 0, "as the machine's clock has it", 1},
		"draws, and does not":   {list(200*ms, 500*ms, 900*ms), list(100*ms, 400*ms, 600*ms, 800*ms), 0, "does not show", 1},
		"draws, and obeys":      {list(200*ms, 500*ms, 900*ms), list(5*ms, 20*ms, 30*ms, 50*ms), 0, "", 25},
		"waits for nothing":     {list(1*ms, 2*ms, 3*ms), list(1*ms, 2*ms, 3*ms, 3*ms), 0, "waits for nothing", 1},
		"does not retry":        {nil, nil, 0, "does not retry a 503", 1},
		"never came back":       {list(1000*ms, 1001*ms, 1002*ms), nil, 4, "did not come back", 1},
		"some came not back":    {list(1000*ms, 1001*ms, 1002*ms), list(50*ms, 51*ms, 52*ms), 1, "does not show", 1},
		"retried one time only": {list(1000*ms, 1001*ms, 1002*ms), nil, 0, "in one trial and not in the other", 1},
	} {
		p := pace(waited{first: row.real}, waited{first: row.fast, late: row.late})
		if p.Obeys != (row.why == "") || !strings.Contains(p.Why, row.why) || p.Speed() != row.speed {
			t.Errorf("%s: %+v at speed %d, want %q at %d", name, p, p.Speed(), row.why, row.speed)
		}
	}
}

// TestPaceTellsLoadingFromWorking has clients that load something before their first retry: only then are they slow.
func TestPaceTellsLoadingFromWorking(t *testing.T) {
	const ms = time.Millisecond
	real := waited{first: []time.Duration{1020 * ms}, second: []time.Duration{1002 * ms}}
	for later, want := range map[time.Duration]int{52 * ms: 25, 50 * ms: 25, 60 * ms: 10, 80 * ms: 10} {
		p := pace(real, waited{first: []time.Duration{71 * ms}, second: []time.Duration{later}})
		if p.Speed() != want || p.Overhead != 20*ms {
			t.Errorf("%v before the second retry: %+v at speed %d, want %d", later, p, p.Speed(), want)
		}
	}
}
