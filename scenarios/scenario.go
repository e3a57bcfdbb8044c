package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Scenario is one disturbance of a client's world, and what is to be learnt from it.
type Scenario struct {
	Name    string `yaml:"name" doc:"lower-case words with hyphens between; for the scenarios that ship, the file's name"`
	Summary string `yaml:"summary" doc:"what happens, in one line"`
	Why     string `yaml:"why" doc:"what it is good for, and where it comes from"`

	Judges  []string      `yaml:"judges" doc:"ids of the clauses that it puts to the test"`
	Clients int           `yaml:"clients" doc:"how many clients it wants, each with an address of its own; default: as many as its clauses need to decide"`
	Cancel  *Cancel       `yaml:"cancel" doc:"when the caller loses interest and says so; default never"`
	Limit   time.Duration `yaml:"limit" doc:"longest time that one client may take; default: as the runner says"`

	// Work wants a client that keeps working, Watch one that works by itself. With neither, each client makes one call.
	Work  Work          `yaml:"work" doc:"calls that each client makes at a steady pace; default one call"`
	Watch time.Duration `yaml:"watch" doc:"how long a client that works by itself, such as a poller, is watched and then stopped"`
	// Fleet marks a scenario that asks much of a machine.
	Fleet bool `yaml:"fleet" doc:"it wants many clients at once: commands are put through it only where it is named or the contract sets a clause of it"`

	Rules []faultserver.Rule `yaml:"rules" doc:"the plan: of the rules that a request meets, the first that is on acts"`

	clauses []string // that judges may name, while it is read; none: any
}

// Cancel is how a caller takes its call back: the context of a Go function ends, a command gets the signal SIGTERM.
type Cancel struct {
	After time.Duration `yaml:"after" doc:"how long after the client's first request arrived"`
}

func (c *Cancel) validate(n strict.Node) {
	if _, ok := n.Field("after"); ok || n.Kind() != strict.Map {
		strict.Above(n, "after", c.After, 0)
		return
	}
	n.Fail("cancel: say how long after the first request, as in cancel: {after: 200ms}")
}

// maxClients keeps one file from starting more processes than a machine bears.
const maxClients = 1000

// Plan is what the fault server does.
func (s Scenario) Plan() faultserver.Plan { return faultserver.Plan{Name: s.Name, Rules: s.Rules} }

// String names the scenario and what it does, on one line.
func (s Scenario) String() string { return fmt.Sprintf("%s: %s", s.Name, s.Summary) }

// Validate checks what the types alone do not say.
func (s *Scenario) Validate(n strict.Node) {
	if n.Kind() != strict.Map {
		return
	}
	if !isName(s.Name) {
		n.At("name").Fail("name: %q is no name for a scenario; want lower-case words with hyphens between, as in 503-burst", s.Name)
	}
	s.validateTexts(n)
	s.validateJudges(n)
	if cancel, ok := n.Field("cancel"); ok && s.Cancel != nil {
		s.Cancel.validate(cancel)
	}
	if _, ok := n.Field("clients"); ok {
		strict.Between(n, "clients", s.Clients, 1, maxClients)
	}
	if _, ok := n.Field("limit"); ok {
		strict.Above(n, "limit", s.Limit, 0)
	}
	s.validateTimes(n)
	if len(s.Rules) == 0 {
		n.At("rules").Fail("rules: a scenario without rules disturbs nothing; give it at least one")
	}
	s.Plan().Validate(n)
}

// validateTimes finds work and watch that cannot both be, or that the limit cuts off.
func (s *Scenario) validateTimes(n strict.Node) {
	work, working := n.Field("work")
	watch, watching := n.Field("watch")
	switch {
	case working && watching:
		watch.Fail("watch: is for clients that work by themselves, and work for those that are given calls; keep one")
	case watching:
		strict.Above(n, "watch", s.Watch, 0)
		if s.Limit > 0 {
			n.At("limit").Fail("limit: cannot stand next to watch, which says already when a client is stopped")
		}
	case working && !work.Failed() && s.Limit > 0 && s.Limit <= s.Work.Lasts():
		n.At("limit").Fail("limit: %v leaves no time for the work, whose calls begin over %v; want more", s.Limit, s.Work.Lasts())
	}
}

func (s *Scenario) validateTexts(n strict.Node) {
	switch summary := strings.TrimSpace(s.Summary); {
	case summary == "":
		n.At("summary").Fail("summary: say in one line what happens, as in summary: Two minutes of 503, then healthy.")
	case strings.Contains(summary, "\n"):
		n.At("summary").Fail("summary: has more than one line; the rest belongs into why")
	}
}

func (s *Scenario) validateJudges(n strict.Node) {
	if len(s.Judges) == 0 {
		n.At("judges").Fail("judges: name the clauses that the scenario puts to the test, as in judges: [retry-cap]")
	}
	list, seen := n.At("judges").Seq(), map[string]bool{}
	for i, id := range s.Judges {
		switch {
		case i >= len(list):
		case seen[id]:
			list[i].Fail("judges: %s is listed twice", id)
		case !isName(id):
			list[i].Fail("judges: %q is no clause id; those are lower-case words with hyphens between, as in retry-cap", id)
		case len(s.clauses) > 0 && !slices.Contains(s.clauses, id):
			list[i].Fail("judges: unknown clause %q%s", id, registry.Suggest(id, s.clauses))
		}
		seen[id] = true
	}
}

// isName reports whether s is lower-case words and numbers with hyphens between.
func isName(s string) bool {
	for word := range strings.SplitSeq(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}
