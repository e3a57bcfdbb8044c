package faultserver

import (
	"time"
)

// countsAnswer is the run in numbers.
type countsAnswer struct {
	Began    time.Time     `json:"began" doc:"when the run did"`
	Elapsed  time.Duration `json:"elapsed_ns" doc:"how long it has lasted, in nanoseconds"`
	Requests uint64        `json:"requests" doc:"how many came"`
	InFlight int           `json:"in_flight" doc:"how many of them are still going on"`
	Lost     uint64        `json:"lost" doc:"how many the journal has dropped to stay within its limit"`
	Rules    []ruleCount   `json:"rules" doc:"the rules of the plan in use, in order"`
}

type ruleCount struct {
	Name  string `json:"name" doc:"the rule"`
	Fired uint64 `json:"fired" doc:"how often its fault acted"`
}

type health struct {
	Status string `json:"status" doc:"always ok"`
}

func (c *Control) getCounts(*ask) (any, error) { return c.counts(), nil }

// counts reads the numbers of one run.
func (c *Control) counts() countsAnswer {
	s := c.server
	s.run.RLock()
	defer s.run.RUnlock()
	j := s.journal
	n := countsAnswer{Began: j.Began().Round(0).UTC(), InFlight: j.Pending(), Lost: j.Lost()}
	n.Requests, n.Elapsed = uint64(j.Len())+n.Lost, j.Elapsed()
	n.Rules = []ruleCount{}
	for _, r := range s.program.Load().rules {
		n.Rules = append(n.Rules, ruleCount{r.name, r.fired.Load()})
	}
	return n
}

func (c *Control) health(*ask) (any, error) { return health{"ok"}, nil }
