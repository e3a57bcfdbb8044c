package assert_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// manyClients records clients of all kinds: loops on a 400, waits without jitter, storms, and polite ones.
func manyClients(t *testing.T, kinds string) (j *journal.Journal) {
	synctest.Test(t, func(t *testing.T) {
		j = journal.New(0)
		for i, kind := range kinds {
			go func() {
				time.Sleep(time.Duration(i) * 7 * time.Millisecond)
				for n := range 4 {
					status, wait := 503, time.Second<<n
					switch kind {
					case '4':
						status, wait = 400, 100*time.Millisecond
					case '0':
						wait = time.Millisecond
					case 'o':
						status = 200
					case 'j':
						wait += time.Duration(i) * 31 * time.Millisecond
					}
					x := j.Arrive(journal.Arrival{Client: fmt.Sprint("c", i), Method: "GET", Path: "/", Conn: uint64(i + 1), Proto: "HTTP/1.1"})
					time.Sleep(time.Millisecond)
					x.Body(0, 0, true)
					x.Answered(status, "")
					x.Close()
					if status == 200 {
						return
					}
					time.Sleep(wait)
				}
			}()
		}
		time.Sleep(10 * time.Minute)
	})
	return j
}

// TestStretchesJudgeAsTheWhole compares verdicts on some clients at a time with those on all of them at once.
func TestStretchesJudgeAsTheWhole(t *testing.T) {
	jittered := "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj"
	for _, kinds := range []string{"", "o", "oooo4ooo", "00000000000000000000", jittered, jittered + "4" + jittered, "oooooooooooooooo" + jittered} {
		j := manyClients(t, kinds)
		contract, h := assert.Strict(), j.History()
		run := &assert.Run{Began: h.Began, Until: h.Until}
		whole := assert.Judge(contract, nil, assert.Calls(h.Entries, assert.Key{Table: contract.Responses, Run: run}))
		for _, most := range []int{1_000_000, 90} {
			parts := assert.JudgeInStretches(contract, nil, j, assert.Key{Run: run}, most)
			if len(parts) != len(whole) {
				t.Fatalf("%q: %d results, want %d", kinds, len(parts), len(whole))
			}
			for i, want := range whole {
				if got := parts[i]; got.Clause != want.Clause || got.Verdict != want.Verdict || most > 90 && got.Detail != want.Detail {
					t.Errorf("%q, %d at most: %s %s: %s\nall at once: %s: %s", kinds, most, got.Clause, got.Verdict, got.Detail, want.Verdict, want.Detail)
				}
			}
		}
	}
}
