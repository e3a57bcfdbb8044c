package driver

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/scenarios"
)

// preflightStorm is how many requests a client may send to a healthy server before it is taken for one without an end.
const preflightStorm = 1000

// looks is for how many of its intervals a client that polls is looked at.
const looks = 3

// Preflight is what a client does while everything is healthy.
type Preflight struct {
	Requests []Request // in order of first arrival
	OneCall  bool      // no method and path came twice: under faults, what comes again is a retry
	Exit     Exit
	Output   Output
	Took     time.Duration // without what an idle process that it left running was waited for
	Notes    []string      // whole sentences about what may surprise
}

// Request is a method and path that a client asked for.
type Request struct {
	Method, Path string
	Count        int
}

// SilentError says that a client ended without having sent a request.
type SilentError struct {
	Client string
	URL    string
	Exit   Exit
	Output Output
	Hint   string
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("%s %s and never sent a request to %s; %s %s", e.Client, e.Exit, e.URL, e.Hint, printed(e.Output))
}

// EndlessError says that a client does not end even while everything is healthy.
type EndlessError struct {
	Client   string
	URL      string
	Why      string // how far it was let, to follow the client's name
	Requests int
	Output   Output
	Hint     string // what it may lack
}

func (e *EndlessError) Error() string {
	if e.Requests == 0 {
		return fmt.Sprintf("%s %s; it never sent a request to %s; %s %s", e.Client, e.Why, e.URL, e.Hint, printed(e.Output))
	}
	return fmt.Sprintf("%s %s, although every request (%d so far) was answered at once; %s %s",
		e.Client, e.Why, e.Requests, e.Hint, printed(e.Output))
}

// printed ends an error message with what the client had to say.
func printed(o Output) string {
	last := o.Last(5)
	if last == "" {
		return "it printed nothing"
	}
	if cut := len(last) - quoted; cut > 0 {
		last = fmt.Sprintf("[%d bytes before this are left out] %s", cut, strings.ToValidUTF8(last[cut:], ""))
	}
	return "its output: " + last
}

// quoted is how many bytes of a client's output a message holds: the last ones.
const quoted = 1000

// Look runs client once against a healthy server, to learn what it does before faults are thrown at it. One that polls
// (Options.Polls) is stopped after three of its intervals. Errors are a
// *StartError, a *SilentError, an *EndlessError, or why the server could not run.
func Look(ctx context.Context, client Client, o Options) (*Preflight, error) {
	o.Clients, o.StormLimit, o.Enough, o.Speed, o.blind = 1, preflightStorm, -1, 1, true
	out, err := Run(ctx, scenarios.Scenario{Name: "preflight", Watch: looks * o.Polls}, client, o)
	if err != nil {
		return nil, err
	}
	end := out.Ends[0]
	switch {
	case end.Exit.Alive:
		return nil, endless(client, end, end.Exit.String())
	case end.Stopped != "" && !end.idle && !end.watched:
		return nil, endless(client, end, end.Stopped)
	case end.Exit.lost != "" && !end.Silent:
		return nil, endless(client, end, end.Exit.lost+" before it said that its call had ended")
	case end.Silent, len(requests(out.History.Entries)) == 0:
		return nil, &SilentError{client.Name(), end.URL, end.Exit, end.Output, cmp.Or(distrust(out.History.Entries), silentHint(client))}
	}
	p := &Preflight{Requests: requests(out.History.Entries), OneCall: true, Exit: end.Exit, Output: end.Output, Took: end.Took}
	if end.idle {
		p.Took = 0
		for _, e := range out.History.Entries {
			p.Took = max(p.Took, e.End())
		}
	}
	for _, r := range p.Requests {
		p.OneCall = p.OneCall && r.Count == 1
	}
	p.Notes = surprises(client.Name(), end, out.History.Entries)
	return p, nil
}

// endless is the error for a client that would not come to an end.
func endless(client Client, end End, why string) error {
	hint := "a client under test must end by itself;"
	switch c, ok := client.(*command); {
	case end.Requests == 0:
		hint = silentHint(client)
	case ok && c.shared:
		hint = fmt.Sprintf("a worker that clients share prints the id of each call on a line of its own when the call has ended (%s.1), "+
			"flushes it, and goes on to the end of its input;", end.Client)
	}
	return &EndlessError{client.Name(), end.URL, why, end.Requests, end.Output, hint}
}

// distrust says why a client never came to send a request over TLS; "" if that was not the reason.
func distrust(entries []journal.Entry) string {
	for _, e := range entries {
		switch {
		case e.Distrusted():
			return fmt.Sprintf("it turned the server's certificate down (%s); let it trust the authority in the file $RETRYGATE_CA;",
				strings.TrimPrefix(e.Handshake, journal.Alert))
		case e.Handshake != "":
			return fmt.Sprintf("the TLS handshake failed: %s;", e.Handshake)
		}
	}
	return ""
}

// silentHint guesses why nothing arrived.
func silentHint(client Client) string {
	c, ok := client.(*command)
	switch {
	case !ok:
		return "does it use the url that it is given?"
	case c.lines:
		return "does it read lines with an id and an address, and send its requests to that?"
	case strings.Contains(strings.Join(c.argv, " "), placeholder), strings.Contains(strings.Join(c.argv, " "), "RETRYGATE_URL"):
		return "does it reach that address?"
	default:
		return "is " + placeholder + " in the command?"
	}
}

// requests counts entries by method and path.
func requests(entries []journal.Entry) []Request {
	var list []Request
	index := map[[2]string]int{}
	for _, e := range entries {
		if e.Unused() || e.Handshake != "" {
			continue
		}
		key := [2]string{e.Method, e.Path}
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key], list = i, append(list, Request{Method: e.Method, Path: e.Path})
		}
		list[i].Count++
	}
	return list
}

// surprises tells what should not be while everything is healthy.
func surprises(name string, end End, entries []journal.Entry) []string {
	var notes []string
	if end.idle {
		notes = append(notes, name+" "+end.Stopped)
	}
	if end.Exit.err() != nil {
		notes = append(notes, fmt.Sprintf("%s %s although nothing was disturbed; %s", name, end.Exit, printed(end.Output)))
	}
	for _, e := range entries {
		if e.Status >= 400 {
			notes = append(notes, fmt.Sprintf("%s %s was answered %d although nothing was disturbed", e.Method, e.Path, e.Status))
			break
		}
	}
	return notes
}
