package assert

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// tally counts the calls that put a clause to the test and keeps the worst breach, so that a verdict shows one case and
// counts the rest.
type tally struct {
	id       string
	kept     int // calls that met the precondition and were watched to their end
	broken   int
	doubtful int // broken, unless the machine was to blame, or another call
	pending  int // watched too briefly to tell

	badness float64
	worst   string
	who     string // client of the worst breach
	witness []journal.Entry
	doubt   string // the first doubtful breach, and why it is doubtful
}

// breach counts a broken call. The worst one is described by say, which is called only when needed.
func (t *tally) breach(c *Call, badness float64, say func() (string, []journal.Entry)) {
	if t.broken == 0 || badness > t.badness {
		t.badness, t.who = badness, c.Client
		t.worst, t.witness = say()
	}
	t.broken++
}

// lateness is a promise of "not later than" that was broken by excess. The machine had so many chances to be late.
type lateness struct {
	from, to, excess time.Duration
	chances          int
}

// late counts a call that broke a promise that a slow machine can break too.
func (t *tally) late(c *Call, by lateness, badness float64, say func() (string, []journal.Entry)) {
	why := by.excuse(c.Run.Noise)
	if why == "" {
		t.breach(c, badness, say)
		return
	}
	if t.doubtful == 0 {
		text, _ := say()
		t.doubt = text + "; but " + why
	}
	t.doubtful++
}

// unsure counts a call that looks broken and need not be; text says why.
func (t *tally) unsure(text string) {
	if t.doubtful == 0 {
		t.doubt = text
	}
	t.doubtful++
}

// excuse says why the machine may be to blame; "" if it cannot be: had it stalled each time as long as the canary's longest
// stall, twice over, it would not explain the excess.
func (l lateness) excuse(n Noise) string {
	if !n.Known() {
		return noCanary
	}
	if stall := n.Max(l.from, l.to); l.excess <= 2*time.Duration(l.chances)*stall {
		return "the canary was late by up to " + span(stall) + ", so the machine itself may have been"
	}
	return ""
}

const noCanary = "no canary ran, so the machine itself may have been late"

// keep counts a call that kept the clause, or one that could still break it.
func (t *tally) keep(over bool) {
	if over {
		t.kept++
	} else {
		t.pending++
	}
}

// result is the verdict: any breach fails. kept describes what a pass rests on, missing what a call would have to meet,
// unsure what was too short about the watching.
func (t *tally) result(kept, missing, unsure string) Result {
	switch {
	case t.broken > 0:
		return Result{Clause: t.id, Verdict: Fail, Detail: t.worst + t.extent(), Witness: t.witness}
	case t.doubtful > 0:
		return Result{Clause: t.id, Verdict: Inconclusive, Detail: t.doubt, doubt: true}
	case t.kept > 0:
		return Result{Clause: t.id, Verdict: Pass, Detail: kept + " (" + plural(t.kept, "call") + ")"}
	case t.pending > 0:
		return Result{Clause: t.id, Verdict: Inconclusive, Detail: unsure + " (" + plural(t.pending, "call") + ")"}
	default:
		return Result{Clause: t.id, Verdict: NotExercised, Detail: missing}
	}
}

// extent says whose call was the worst and how many others broke the clause.
func (t *tally) extent() string {
	all := t.kept + t.broken + t.doubtful + t.pending
	if all == 1 {
		return ""
	}
	if strings.HasPrefix(t.worst, named(t.who)) {
		return fmt.Sprintf(" (%d of %d calls)", t.broken, all)
	}
	return fmt.Sprintf(" (%s; %d of %d calls)", named(t.who), t.broken, all)
}

// leastQuiet is how long a call has to be silent at least before it counts as over.
const leastQuiet = 5 * time.Second

// endings tells which calls are over, so that the absence of a further attempt means something.
type endings struct {
	calls []Call
	least time.Duration
	quiet time.Duration // silence that is needed; 0: not known yet

	unread bool // a call may have gone on over connections of which no request was read
	lost   bool // or in entries that the history lacks
}

// endingsOf wants silence for four times the longest wait seen in the history, and for quiet or 5 s at least.
func endingsOf(calls []Call, quiet time.Duration) *endings {
	return &endings{calls: calls, least: max(quiet, leastQuiet)}
}

// over reports whether no further attempt of the call is to be expected.
func (e *endings) over(c *Call) bool {
	if c.maybeBetween(endOf(&c.Attempts[0]), maxTime) {
		e.unread = true
		return false
	}
	if c.Run.Ended {
		return true
	}
	last, needed := &c.Attempts[len(c.Attempts)-1], e.silence()
	return !last.Open && c.Run.Until-endOf(last) >= max(needed, patience(last, c.Run))
}

// silence is measured when it is first needed: it takes a look at every entry.
func (e *endings) silence() time.Duration {
	if e.quiet > 0 {
		return e.quiet
	}
	var longest time.Duration
	for i := range e.calls {
		a := e.calls[i].Attempts
		for k := 1; k < len(a); k++ {
			longest = max(longest, a[k].At-endOf(&a[k-1]))
		}
	}
	e.quiet = max(4*min(longest, maxTime/4), e.least)
	return e.quiet
}

// silent reports whether no further attempt of the call came, for clauses that break when none does: no history that lacks
// entries shows that.
func (e *endings) silent(c *Call) bool {
	if c.Run.Lost > 0 {
		e.lost = true
		return false
	}
	return e.over(c)
}

// unsure explains why calls are not over.
func (e *endings) unsure(what string) string {
	if e.lost {
		return what + ", but the history lacks entries, and what is missing may be among them"
	}
	if e.unread {
		return what + ", but the client made connections of which no request was read, and they may have been attempts"
	}
	return fmt.Sprintf("%s, but the watch ended before %s of silence had passed, so another attempt may have followed", what, span(e.quiet))
}

// patience is the time to leave a client that was told when to come back: half as much again.
func patience(e *journal.Entry, run *Run) time.Duration {
	if e.RetryAfter == "" {
		return 0
	}
	asked, ok := Asked(*e, run.Began)
	if !ok || asked <= 0 {
		return 0
	}
	return asked + min(asked/2, maxTime-asked)
}

// endOf is Entry.End without the copy: entries are large and there may be a million of them.
func endOf(e *journal.Entry) time.Duration {
	switch {
	case e.Gone > 0:
		return e.Gone
	case e.Open:
		return e.At
	default:
		return e.At + e.Took
	}
}

// ownWaits yields the waits that a client chose by itself, each with the index of the failed attempt before it. Waits
// that an answer directed (Retry-After) are left out, and so are attempts that overlap: when the client took the first
// for failed is not known.
func ownWaits(c *Call) iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		for i := range len(c.Attempts) - 1 {
			if wait, ok := ownWait(c, i); ok && !yield(i, wait) {
				return
			}
		}
	}
}

// firstWaits yields the leading own waits, one for each retry, with the index of the attempt before it, up to the first that an
// answer directed: behind it a client may start its backoff anew. Renewing credentials after a 401 is no retry.
func firstWaits(c *Call) iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		for i := range len(c.Attempts) - 1 {
			if c.aside(i + 1) {
				continue
			}
			if wait, ok := ownWait(c, i); !ok || !yield(i, wait) {
				return
			}
		}
	}
}

func ownWait(c *Call, i int) (time.Duration, bool) {
	e, next := &c.Attempts[i], &c.Attempts[i+1]
	wait := next.At - endOf(e)
	if wait < -overlap || c.maybeBetween(endOf(e), next.At) || !c.table.fails(e) || directed(e) || challenged(e, next) || c.corrected(i) {
		return 0, false
	}
	return max(0, wait), true
}

func challenged(e, next *journal.Entry) bool {
	return (e.Status == 401 || e.Status == 407) && !infer.IsRetry(e, next)
}

// directed reports whether the answer named a time to come back in a form that a client has to understand.
func directed(e *journal.Entry) bool {
	if e.RetryAfter == "" {
		return false
	}
	_, ok := Asked(*e, time.Unix(0, 0))
	return ok
}

// repeats reports whether the answer leaves nothing to do but to send the same request again, so that body and key have
// to stay as they are. After other 4xx a client may have changed the request.
func repeats(e *journal.Entry) bool {
	switch {
	case !failed(e):
		return false
	case networkFailure(e) || e.Status >= 500:
		return true
	default:
		return e.Status == 401 || e.Status == 408 || e.Status == 421 || e.Status == 425 || e.Status == 429
	}
}

// idempotentMethod reports whether sending twice does no more than sending once. Of the methods that IANA lists as not
// idempotent these are in use; an unknown one gets the benefit of the doubt.
func idempotentMethod(method string) bool {
	return method != "POST" && method != "PATCH" && method != "LOCK" && method != "CONNECT"
}

// safeRoute reports whether the contract lists the request as safe to repeat: "POST /path" or "/path", where a trailing *
// stands for any rest.
func safeRoute(routes []string, e *journal.Entry) bool {
	for _, route := range routes {
		method, path, ok := strings.Cut(route, " ")
		if !ok {
			method, path = "", route
		}
		if method != "" && method != e.Method {
			continue
		}
		if rest, open := strings.CutSuffix(path, "*"); e.Path == path || open && strings.HasPrefix(e.Path, rest) {
			return true
		}
	}
	return false
}

// after says what came before a wait: "a 400", "a broken connection".
func after(e *journal.Entry) string {
	switch {
	case e.Open:
		return "an attempt that was still open"
	case e.Distrusted():
		return "a certificate that it had turned down"
	case e.Gone > 0:
		return "the client had given up on the one before"
	case e.Status == 0:
		return "a connection that broke without an answer"
	case e.Cut:
		return fmt.Sprintf("a %d that was cut off", e.Status)
	case e.RetryAfter != "":
		return fmt.Sprintf("a %d with Retry-After: %s", e.Status, e.RetryAfter)
	default:
		return fmt.Sprintf("a %d", e.Status)
	}
}

// within compares a time that was seen with the one that the contract allows, where lateness may explain a little more.
func within(seen, allowed time.Duration) string {
	text := fmt.Sprintf("%s; the contract allows %s", span(seen), span(allowed))
	if seen > allowed {
		text += ", and the machine may have been late by the rest"
	}
	return text
}

func named(client string) string {
	if client == "" {
		return "a client"
	}
	return client
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// span writes a duration as a reader wants it: 0.4 ms, 12 ms, 1.25 s, 2m5s.
func span(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d < 0:
		return "-" + span(-d)
	case ms < 9.95:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", ms), ".0") + " ms"
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	case d < time.Minute && d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	case ms < 9_995:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms < 59_950:
		return fmt.Sprintf("%.1f s", ms/1000)
	default:
		return short(d.Round(time.Second))
	}
}

// quietOf is the silence that shows a call to be over under a contract: longer than any wait that it allows.
func quietOf(c *Contract) time.Duration { return c.Backoff.Jitter.Ceiling(c.Backoff.Longest()) }

// longQuiet is the silence after an answer that ends a call for good: who goes on after it keeps to no contract's waits.
func longQuiet(c *Contract) time.Duration { return max(3*quietOf(c), 30*time.Second) }

// atLeast fails at a parameter that the file sets below least; what it does not set is left to the defaults.
func atLeast[T cmp.Ordered](n strict.Node, field string, v, least T) {
	if _, set := n.Field(field); set {
		strict.AtLeast(n, field, v, least)
	}
}

func between[T cmp.Ordered](n strict.Node, field string, v, least, most T) {
	if _, set := n.Field(field); set {
		strict.Between(n, field, v, least, most)
	}
}
