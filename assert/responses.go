package assert

import "github.com/retrygate/retrygate/faultserver/journal"

// Statuses that a contract can speak about.
const minStatus, maxStatus = 100, 599

// Response is what a contract says about one answer.
type Response struct {
	Retry Behaviour
	// Honour: a Retry-After in the answer has to be kept. The behaviours that depend on the header imply it.
	Honour bool
}

// Responses is the table of a contract: every status from 100 to 599, and every class of network failure. The zero value
// leaves everything unspecified; the profile strict has the default.
type Responses struct {
	status  [maxStatus - minStatus + 1]Response
	network [networkClasses]Response
}

// Clone copies the table, for a contract that changes a few rows.
func (t *Responses) Clone() *Responses { c := *t; return &c }

// Set changes the rows from one status to another, both included. Statuses outside 100-599 are left alone.
func (t *Responses) Set(from, to int, r Response) {
	for s := max(from, minStatus); s <= min(to, maxStatus); s++ {
		t.status[s-minStatus] = r
	}
}

// SetNetwork changes the rows for these classes of network failure; all of them when none is named.
func (t *Responses) SetNetwork(r Response, classes ...NetworkClass) {
	for _, c := range classes {
		t.network[c] = r
	}
	if len(classes) == 0 {
		for c := range t.network {
			t.network[c] = r
		}
	}
}

// Network is the row for one class of network failure.
func (t *Responses) Network(c NetworkClass) Response { return t.network[c] }

// Status is the row for one status; nothing is said about those outside 100-599.
func (t *Responses) Status(code int) Response {
	if code < minStatus || code > maxStatus {
		return Response{}
	}
	return t.status[code-minStatus]
}

// For is what the client is expected to do after this answer. The behaviours that depend on Retry-After or a key are
// resolved: they come back as Backoff or Never, and NeverAgain as Never. Successes, redirects and open exchanges are Unspecified unless a row
// says otherwise.
func (t *Responses) For(e journal.Entry) Behaviour { return t.after(&e) }

// after is For without the copy.
func (t *Responses) after(e *journal.Entry) Behaviour {
	if e.Open {
		return Unspecified
	}
	if networkFailure(e) {
		return resolve(t.network[classOf(e)].Retry, e)
	}
	b := resolve(t.Status(e.Status).Retry, e)
	if b == Never && e.Rare != nil && e.Rare.Directive == journal.DirectiveYes {
		return Backoff // the server's own word
	}
	return b
}

// Honours reports whether the contract wants the Retry-After of this answer kept.
func (t *Responses) Honours(e journal.Entry) bool {
	if e.RetryAfter == "" || NetworkFailure(e) {
		return false
	}
	r := t.Status(e.Status)
	return r.Honour || r.Retry == WithRetryAfter || r.Retry == WithRetryAfterOrKey
}

// fails reports whether the answer gives the client a reason to try again: by itself, or because a row makes a failure of
// what is none elsewhere (a redirect, a 202 that asks to come back).
func (t *Responses) fails(e *journal.Entry) bool {
	if failed(e) {
		return true
	}
	if t == nil || e.Status == 0 {
		return false
	}
	switch t.after(e) {
	case Once, OnceAfterRefresh, Backoff:
		return true
	default:
		return false
	}
}

func resolve(b Behaviour, e *journal.Entry) Behaviour {
	switch b {
	case NeverAgain:
		return Never
	case WithRetryAfter:
		if e.RetryAfter == "" {
			return Never
		}
		return Backoff
	case WithRetryAfterOrKey:
		if e.RetryAfter == "" && e.Key == "" {
			return Never
		}
		return Backoff
	default:
		return b
	}
}
