package assert_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// p0 is the contract of the cases below: 4 attempts, 0.1 s doubling to 1 s, +-20 %, Retry-After up to 30 s.
const p0 = `
attempts: {max: 4, within: 10s}
backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: {proportional: 0.2}}
retry-after: {max: 30s, longer: give-up}
`

// publicCase is the shortest history of a public bug report: how the client behaved, and how it does since it was mended.
// Without bad it is lawful behaviour that looks like a breach.
type publicCase struct {
	source    string
	contract  string // what differs from p0
	many      bool   // each client makes many calls, which the requests alone tell apart; else it makes one
	bad, good *history.Builder
	breaks    []string    // what bad must fail; nothing may fail on good
	holds     []string    // what bad must not fail: the defect is elsewhere
	run       *assert.Run // how both were watched; nil: to the end, on a calm machine
}

func TestPublicCases(t *testing.T) {
	for subject, list := range map[string][]publicCase{
		"statuses": statusCases(), "waits": waitCases(), "attempts": attemptCases(), "retry-after": retryAfterCases(), "writes": writeCases(),
		"ends": endCases(), "connections": connectionCases(), "fleets": fleetCases(), "lawful": lawfulCases(),
		"other requests": otherRequestCases(), "patience": patienceCases(), "company": companyCases(), "crowds": crowdCases(),
	} {
		t.Run(subject, func(t *testing.T) {
			for _, c := range list {
				t.Run(c.source, c.check)
			}
		})
	}
}

func (c publicCase) check(t *testing.T) {
	contract := load(t, merged(p0, c.contract))
	if c.run == nil {
		c.run = &assert.Run{Ended: true, Began: epoch, Noise: calm}
	}
	judged := func(h *history.Builder) []string {
		key := contract.Key()
		key.OneCall, key.Run = !c.many, c.run
		return broken(contract, assert.Advisory, assert.Calls(h.Entries(), key))
	}
	if c.bad != nil {
		got := judged(c.bad)
		for _, id := range c.breaks {
			if !slices.Contains(got, id) {
				t.Errorf("as it was it breaks %v, not %s", got, id)
			}
		}
		for _, id := range c.holds {
			if slices.Contains(got, id) {
				t.Errorf("as it was it breaks %s, which it kept", id)
			}
		}
	}
	if c.good == nil {
		return
	}
	if got := judged(c.good); len(got) > 0 {
		t.Errorf("mended, it breaks %v", got)
	}
}

// once is a GET that is answered with status and not sent again.
func once(status int) *history.Builder { return history.New().Attempt(0, ms, status) }

// directed is a client that meets status with that Retry-After again and again, and waits so long each time.
func directed(status int, value string, waits ...time.Duration) *history.Builder {
	h, at := history.New().Attempt(0, 0, status).RetryAfter(value), time.Duration(0)
	for _, w := range waits {
		at += w
		h.Attempt(at, 0, status).RetryAfter(value)
	}
	return h
}

// resets is a client whose connections are reset, on n retries after the first attempt.
func resets(n int, wait time.Duration) *history.Builder {
	h, at := history.New().Cut(0, 0), time.Duration(0)
	for range n {
		at += wait
		wait *= 2
		h.Cut(at, 0)
	}
	return h
}

// merged puts sections of a contract in place of those of the same name.
func merged(base, other string) string {
	text := other + "\n"
	for line := range strings.Lines(base) {
		section, _, _ := strings.Cut(line, ":")
		if section = strings.TrimSpace(section); section != "" && !strings.Contains("\n"+other, "\n"+section+":") {
			text += line
		}
	}
	return text
}

// opened makes an answer of what broke off: it began with 200.
func opened(e *journal.Entry) { e.Status = 200 }

// refreshing is a client that meets 401 n times, each with a new token.
func refreshing(n int) *history.Builder {
	h := history.New()
	for i := range n {
		h.Auth(uint64(i+1)).Attempt(ns(i)*200*ms, ms, 401)
	}
	return h
}
