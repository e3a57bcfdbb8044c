package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Matcher is a clause as a Gomega matcher; it meets the interface by structure. It fails To and NotTo alike, with an
// error, where the clause could not decide or its precondition never arose.
type Matcher struct {
	clause Clause
	key    Key
	ended  bool
	calls  []Call
	result Result
}

// Keep succeeds when the client kept the clause:
//
//	Expect(server.Journal()).To(assert.Keep(assert.RetryCap{Max: 4}))
//
// It takes a journal.Source, a journal.History, []journal.Entry or []Call.
func Keep(c Clause) *Matcher { return &Matcher{clause: c} }

// By sets how requests are grouped into calls, and with Key.Run how they were watched. It has no effect on []Call, which
// are grouped already.
func (m *Matcher) By(k Key) *Matcher { m.key = k; return m }

// Ended says that the client has returned, so that no attempt can follow. Without it a claim of absence (no retry, no more
// than so many) needs a history that goes on in silence for a while.
func (m *Matcher) Ended() *Matcher { m.ended = true; return m }

// Match judges actual; a large journal some clients at a time, as JudgeJournal does. It returns an error unless the clause was kept or broken.
func (m *Matcher) Match(actual any) (bool, error) {
	if j, ok := actual.(*journal.Journal); ok && j != nil {
		m.judge(j)
	} else {
		calls, err := m.group(actual)
		if err != nil {
			return false, err
		}
		m.calls, m.result = calls, check(m.clause, calls)
	}
	switch m.result.Verdict {
	case Pass:
		return true, nil
	case Fail:
		return false, nil
	default:
		return false, fmt.Errorf("assert: %s is %s: %s", m.result.Clause, m.result.Verdict, m.result.Detail)
	}
}

// judge judges a journal.
func (m *Matcher) judge(j *journal.Journal) {
	m.calls = nil
	for h := range j.Stretches(mostAtOnce) {
		key := m.key
		if key.Run == nil {
			key.Run = &Run{Began: h.Began, Lost: h.Lost, Until: h.Until, Ended: m.ended}
		}
		calls := callsOf(h, key)
		if r := check(m.clause, calls); m.calls == nil || telling(r) > telling(m.result) {
			m.calls, m.result = calls, r
		}
	}
}

// historian is a source that also says how far it can be trusted.
type historian interface{ History() journal.History }

func (m *Matcher) group(actual any) ([]Call, error) {
	switch a := actual.(type) {
	case []Call:
		return a, nil
	case []journal.Entry:
		return m.entries(a, watched(a)), nil
	case journal.History:
		return m.history(a), nil
	case *journal.History:
		if a != nil {
			return m.history(*a), nil
		}
	case historian:
		return m.history(a.History()), nil
	case journal.Source:
		entries := a.Entries()
		return m.entries(entries, watched(entries)), nil
	}
	return nil, fmt.Errorf("assert: Keep(%s) wants a journal.Source, journal.History, []journal.Entry or []assert.Call, not %T",
		m.clause.ID(), actual)
}

func (m *Matcher) history(h journal.History) []Call {
	return m.entries(h.Entries, &Run{Began: h.Began, Lost: h.Lost, Until: h.Until})
}

// entries groups with what is known about the run, unless By said more.
func (m *Matcher) entries(entries []journal.Entry, run *Run) []Call {
	key := m.key
	if key.Run == nil {
		run.Ended = m.ended
		key.Run = run
	}
	return Calls(entries, key)
}

// MatchMayChangeInTheFuture tells Eventually and Consistently when to stop: what came too early or too often stays so.
func (m *Matcher) MatchMayChangeInTheFuture(any) bool {
	kind, err := Kinds.Get(m.clause.ID())
	return m.result.Verdict != Fail || (err == nil && kind.Late)
}

// FailureMessage says what the client did, with the exchanges that show it.
func (m *Matcher) FailureMessage(any) string {
	text := fmt.Sprintf("The client broke %s: %s\n", m.result.Clause, m.result.Detail)
	if len(m.result.Witness) > 0 {
		text += "\n" + witnessTable(m.result.Witness, m.calls)
	}
	if kind, err := Kinds.Get(m.result.Clause); err == nil && kind.Fix != "" {
		text += "\nFix: " + kind.Fix
	}
	return text
}

// NegatedFailureMessage says what the client kept although a breach was expected.
func (m *Matcher) NegatedFailureMessage(any) string {
	return fmt.Sprintf("Expected the client to break %s, but it kept it: %s", m.result.Clause, m.result.Detail)
}
