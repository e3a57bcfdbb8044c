package driver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/scenarios"
)

// Outcome is what came of one scenario.
type Outcome struct {
	Scenario scenarios.Scenario
	History  journal.History
	Run      assert.Run
	Ends     []End // one for each client, in order
	Took     time.Duration
	Fired    map[string]uint64 // how often each rule's fault acted
	Notes    []string          // whole sentences about what a reader of the verdict should know
}

// End is how one client came to its end.
type End struct {
	Client  string
	URL     string // where it was sent
	Exit    Exit
	Stopped string // why it was stopped, to follow its name; "" if it ended by itself
	// StoppedAt is when it was asked to stop, on the clock of the history. What it had open then stays open in the history:
	// it was the harness that broke it off.
	StoppedAt time.Duration
	// Cancelled is when the scenario's caller had cancelled, on the clock of the history; 0 if it did not, or came too late.
	Cancelled time.Duration
	// Left is how many processes that a command had started still ran when it had ended and were stopped: Stopped says why.
	Left     int
	Silent   bool   // it never sent a request
	Message  string // a whole sentence about what is out of the ordinary; "" if it sent requests and ended by itself
	Requests int
	Took     time.Duration
	Output   Output

	shared  bool // the process that made its call makes those of others
	idle    bool // what was left sent nothing any more
	watched bool // it was stopped because it works by itself, and that was watched long enough
}

// String says how the client ended, to follow its name.
func (e End) String() string {
	text := e.Exit.String()
	if e.Stopped != "" && !e.Exit.Alive {
		text = e.Stopped
	}
	if e.Silent {
		text += " and never sent a request to " + e.URL
	}
	return text
}

// message tells what is out of the ordinary.
func (e End) message() string {
	idler := e.Exit.Untaken > 0 && e.Stopped == ""
	if (e.Stopped == "" || e.watched) && !e.Silent && !e.Exit.Alive && !idler {
		return ""
	}
	text := e.String()
	if idler {
		text += fmt.Sprintf(" and left %d calls of the work undone", e.Exit.Untaken)
	}
	if e.Silent && e.Stopped != "" && e.shared && e.Exit.lost == "" {
		text += "; a worker that clients share must not let a call wait for the end of another"
	}
	if e.Silent || e.Exit.Alive || idler || e.Exit.lost != "" {
		text += "; " + printed(e.Output)
	}
	return e.Client + " " + text
}

// digits are what differs between the messages of clients that ended alike.
var digits = regexp.MustCompile(`[0-9.]+`)

// messages tells what is out of the ordinary, once for all clients that ended alike.
func messages(ends []End) []string {
	var notes []string
	first, others := map[string]End{}, map[string]int{}
	var kinds []string
	for _, e := range ends {
		if e.Message == "" {
			continue
		}
		kind := digits.ReplaceAllString(e.Message, "")
		if _, ok := first[kind]; ok {
			others[kind]++
			continue
		}
		first[kind] = e
		kinds = append(kinds, kind)
	}
	for _, kind := range kinds {
		e := first[kind]
		switch n := others[kind]; n {
		case 0:
			notes = append(notes, e.Message)
		case 1:
			notes = append(notes, e.Client+" (and another) "+strings.TrimPrefix(e.Message, e.Client+" "))
		default:
			notes = append(notes, fmt.Sprintf("%s (and %d others) %s", e.Client, n, strings.TrimPrefix(e.Message, e.Client+" ")))
		}
	}
	return notes
}

// reopen takes back what the harness did to the exchanges of clients that it stopped.
func (o *Outcome) reopen() {
	stopped := map[string]time.Duration{}
	for _, e := range o.Ends {
		if e.Stopped != "" {
			stopped[e.Client] = e.StoppedAt
		}
	}
	for i := range o.History.Entries {
		e := &o.History.Entries[i]
		if at, ok := stopped[e.Client]; ok && e.Gone > 0 && e.Gone >= at {
			e.Gone, e.Took, e.Cut, e.Open = 0, 0, false, true
		}
	}
}

// notes collects what a reader of the verdict should know.
func (o *Outcome) notes(serverLog string) []string {
	notes := messages(o.Ends)
	if o.History.Lost > 0 {
		notes = append(notes, fmt.Sprintf("the journal lost its %d oldest entries to stay within memory", o.History.Lost))
	}
	for _, r := range o.idleStreams() {
		notes = append(notes, fmt.Sprintf("rule %s acts on HTTP/2 only, and no request came over HTTP/2: its fault never acted", r))
	}
	if serverLog = strings.TrimSpace(serverLog); serverLog != "" {
		notes = append(notes, "the server reported: "+serverLog)
	}
	return notes
}

// idleStreams names the rules whose faults need HTTP/2, where the clients spoke something else.
func (o *Outcome) idleStreams() (rules []string) {
	asked := func(e journal.Entry) bool { return e.Method != "" }
	http2 := func(e journal.Entry) bool { return strings.HasPrefix(e.Proto, "HTTP/2") }
	if !slices.ContainsFunc(o.History.Entries, asked) || slices.ContainsFunc(o.History.Entries, http2) {
		return nil
	}
	for _, r := range o.Scenario.Rules {
		if slices.ContainsFunc(slices.Concat([]fault.Spec{r.Fault}, r.Steps, r.Sweep), fault.Spec.OnStreams) {
			rules = append(rules, r.Name)
		}
	}
	return rules
}
