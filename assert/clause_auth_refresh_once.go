package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "auth-refresh-once", Level: Major,
		Summary: "A 401 is answered once at most, with other credentials, and all calls that met it share one refresh.",
		Measure: "In each call the attempts after a 401, and after a 407: one each at most, and with other credentials; after a 403 none with the same " +
			"ones. For each client the requests to the refresh endpoint (/token unless the contract names another path): in any 2 s no more than " +
			"credentials met a 401 in the 10 s before. A refresh that failed in passing (5xx, 429, no answer) may be repeated and does not count.",
		Why: "If new credentials do not help, newer ones will not either: the client refreshes and repeats for ever, five times a second. And when " +
			"one token expires under twenty calls, twenty refreshes at once look like an attack, or invalidate each other.",
		Fix: "Renew credentials in one place, behind a lock: whoever meets a 401 with a token that was replaced meanwhile takes the new one. Repeat " +
			"the request once, with a mark that it was repeated; at the second 401, or when the refresh is refused, sign out. Never send the " +
			"refresh itself through the code that refreshes.",
		Source: "RFC 9110 15.5.2 and 15.5.4 (June 2022); RFC 6749 5.2; reports of endless refreshes: OpenMeet-Team/openmeet-platform pull " +
			"request 414, vaadin-connect issue 335 (read in 2026)",
		Samples: Samples{Calls: 15, Each: 5},
		New: func(c *Contract) Clause {
			return &AuthRefreshOnce{Table: c.Responses, Quiet: quietOf(c)}
		},
	})
}

// AuthRefreshOnce promises that credentials are renewed once, and that the request is repeated once with them.
type AuthRefreshOnce struct {
	Refresh string        `yaml:"refresh" doc:"path of the endpoint that gives new credentials; default /token"`
	Within  time.Duration `yaml:"within" doc:"time in which calls that meet the same 401 have to share a refresh; default 2 s"`
	Table   *Responses    `yaml:"-"` // nil: the strict table
	Quiet   time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p AuthRefreshOnce) ID() string { return "auth-refresh-once" }

// Validate finds parameters that make no sense.
func (p *AuthRefreshOnce) Validate(n strict.Node) {
	if f, ok := n.Field("refresh"); ok && (p.Refresh == "" || p.Refresh[0] != '/') {
		f.Fail("refresh: %q is no path; it starts with a slash, like /oauth/token", p.Refresh)
	}
	atLeast(n, "within", p.Within, time.Millisecond)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks at what calls and clients do after a 401.
func (p AuthRefreshOnce) Check(calls []Call) Result {
	p.Refresh, p.Within = cmp.Or(p.Refresh, "/token"), cmp.Or(p.Within, 2*time.Second)
	if p.Table == nil {
		p.Table = StrictResponses()
	}
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	var clients numbering[string]
	var all []*credentials
	for i := range calls {
		c := &calls[i]
		n := clients.of(c.Client)
		if int(n) == len(all) {
			all = append(all, &credentials{})
		}
		who := all[n]
		if c.Attempts[0].Path == p.Refresh {
			who.refreshes = append(who.refreshes, c)
			continue
		}
		at, broken, met := p.answers(c, who)
		switch {
		case broken:
			t.breach(c, float64(len(c.Attempts)-at), func() (string, []journal.Entry) { return p.text(c, at), c.Attempts[at : at+2] })
		case met:
			t.keep(ends.over(c))
		}
	}
	for _, who := range all {
		p.share(&t, who)
	}
	return t.result("no 401 was answered more than once, nor with the same credentials", "no call was answered 401, 403 or 407",
		ends.unsure("no 401 was answered more than once, nor with the same credentials"))
}

// credentials is what one client does about them.
type credentials struct {
	refused   []refusedAuth
	refreshes []*Call
}

// refusedAuth is a 401 and the credentials that met it.
type refusedAuth struct {
	auth  uint64
	entry *journal.Entry
}

// answers finds the first attempt that answers a challenge as it should not, and collects the credentials that were refused.
func (p AuthRefreshOnce) answers(c *Call, who *credentials) (at int, broken, met bool) {
	var renewed []int // statuses that were answered: a proxy and the server behind it may each ask once
	for i := range c.Attempts {
		e := &c.Attempts[i]
		behaviour := p.Table.after(e)
		if behaviour != OnceAfterRefresh && (e.Status != 403 || behaviour != Never) {
			continue
		}
		met = true
		if e.Status != 403 {
			who.refused = append(who.refused, refusedAuth{e.Auth, e})
		}
		if i+1 == len(c.Attempts) || c.Attempts[i+1].At < endOf(e)-overlap || broken {
			continue
		}
		same := e.Auth == c.Attempts[i+1].Auth
		if same || slices.Contains(renewed, e.Status) && e.Status != 403 {
			at, broken = i, true
		}
		renewed = append(renewed, e.Status)
	}
	return at, broken, met
}

func (p AuthRefreshOnce) text(c *Call, at int) string {
	e, next := &c.Attempts[at], &c.Attempts[at+1]
	text := fmt.Sprintf("attempt %d came %s after %s", at+2, span(max(0, c.Gap(at))), after(e))
	if e.Auth == next.Auth {
		return text + " with the same credentials; the contract says only with others"
	}
	return text + "; the contract says once at most, with renewed credentials, and this was the second time"
}

// refusedFor is how long ago a 401 may have been that a refresh answers.
const refusedFor = 10 * time.Second

// share judges the refreshes of one client.
func (p AuthRefreshOnce) share(t *tally, who *credentials) {
	type refresh struct {
		call  *Call
		entry *journal.Entry
	}
	var done []refresh // those that worked, or were refused for good
	for _, c := range who.refreshes {
		for k := range c.Attempts {
			if e := &c.Attempts[k]; !e.Open && p.Table.after(e) != Backoff {
				done = append(done, refresh{c, e})
			}
		}
	}
	slices.SortStableFunc(done, func(a, b refresh) int { return cmp.Compare(a.entry.At, b.entry.At) })
	slices.SortStableFunc(who.refused, func(a, b refusedAuth) int { return cmp.Compare(endOf(a.entry), endOf(b.entry)) })
	from, shared, spent := 0, max(0, p.Within-Early(p.Within)), refusals{all: who.refused, by: map[uint64]int{}}
	for i, r := range done {
		for done[from].entry.At < r.entry.At-shared {
			from++
		}
		spent.move(r.entry.At)
		if n, met := i-from+1, len(spent.by); met > 0 && n > met {
			t.breach(r.call, float64(n), func() (string, []journal.Entry) {
				return fmt.Sprintf("%s refreshed %d times within %s, after %s had met a 401; the contract says that calls share a refresh", named(r.call.Client), n,
					span(p.Within), plural(met, "credential")), []journal.Entry{*spent.latest(), *done[i-1].entry, *r.entry}
			})
			return
		}
	}
}

// refusals slides over the 401s of a client, in order, and counts the credentials that met one shortly before.
type refusals struct {
	all      []refusedAuth
	from, to int            // those of the last ten seconds
	by       map[uint64]int // how many of these, by credentials
}

// move goes on to what was refused shortly before now.
func (r *refusals) move(now time.Duration) {
	for ; r.to < len(r.all) && endOf(r.all[r.to].entry) <= now+overlap; r.to++ {
		r.by[r.all[r.to].auth]++
	}
	for ; r.from < r.to && endOf(r.all[r.from].entry) < now-refusedFor; r.from++ {
		auth := r.all[r.from].auth
		if r.by[auth]--; r.by[auth] == 0 {
			delete(r.by, auth)
		}
	}
}

func (r *refusals) latest() *journal.Entry { return r.all[r.to-1].entry }
