package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// place is where a client sends things: what is gone there is gone for every method.
type place struct{ client, path string }

// goneFor finds calls to places of which an answer had said that nothing is to be sent there any more, where the client was
// given several calls: in a recorded history someone may have decided anew. What was under way, or just being sent, is no breach.
func goneFor(t *tally, calls []Call, table *Responses, class int) {
	var gone map[place]*journal.Entry
	for i := range calls {
		c := &calls[i]
		if len(c.Run.Given[c.Client]) < 2 {
			continue
		}
		first := &c.Attempts[0]
		if e := gone[place{c.Client, first.Path}]; e != nil && first.At > endOf(e)+Late(0, c.Run.Noise.P99(endOf(e), first.At)) {
			t.breach(c, 0, func() (string, []journal.Entry) {
				return fmt.Sprintf("a call was sent to %s %s after a %d there; the contract says never again", first.Path, span(first.At-endOf(e)), e.Status),
					[]journal.Entry{*e, *first}
			})
			continue
		}
		for k := range c.Attempts {
			e := &c.Attempts[k]
			where := place{c.Client, e.Path}
			if e.Status/100 != class/100 || table.Status(e.Status).Retry != NeverAgain || !e.Delivered() || gone[where] != nil {
				continue
			}
			if gone == nil {
				gone = map[place]*journal.Entry{}
			}
			gone[where] = e
		}
	}
}
