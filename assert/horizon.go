package assert

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

const (
	leastTracks = 5   // requests that have to agree on a wait
	widestTrack = 3.0 // between the longest and the shortest tenth of it: 50 % of jitter either way
	leastRise   = 2.0 // from the first wait to the last: what comes again at even times may be work that is due again
	longestWalk = 32  // waits of one request that are looked at
)

// SeenHorizon finds out of a recorded history how long after a failure an attempt may still belong to the same call, for
// Key.Horizon: many different requests that came again after the same growing waits, as from a sender of webhooks, show
// that these are attempts, however far apart. It is 0 when nothing shows, and Calls had better find its own.
func SeenHorizon(entries []journal.Entry, table *Responses) time.Duration {
	var first, last, horizon time.Duration
	for _, waits := range columns(entries, table) {
		if len(waits) < leastTracks {
			break
		}
		slices.Sort(waits)
		low, mid, high := waits[len(waits)/10], waits[len(waits)/2], waits[len(waits)-1-len(waits)/10]
		if high > laterHorizon && float64(high) > widestTrack*float64(low) || mid < last*4/5 {
			break
		}
		if first == 0 {
			first = mid
		}
		last, horizon = mid, max(horizon, 2*high)
	}
	if first == 0 || float64(last) < leastRise*float64(first) {
		return 0
	}
	return horizon
}

// columns collects the first, second and further waits of each request that failed and came again.
func columns(entries []journal.Entry, table *Responses) (waits [][]time.Duration) {
	type track struct {
		end   time.Duration
		waits int
	}
	failing := map[matchKey]track{}
	for i := range entries {
		e := &entries[i]
		k := matchOf(e)
		t, open := failing[k]
		if open && e.At >= t.end && t.waits < longestWalk {
			if t.waits == len(waits) {
				waits = append(waits, nil)
			}
			waits[t.waits] = append(waits[t.waits], e.At-t.end)
			t.waits++
		}
		if delete(failing, k); table.fails(e) {
			failing[k] = track{endOf(e), t.waits}
		}
	}
	return waits
}
