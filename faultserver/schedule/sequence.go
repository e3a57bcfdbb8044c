package schedule

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

func init() {
	register(Kind{
		Name:    "sequence",
		Summary: "on for the requests with the listed numbers, counted from 1",
		Example: "{sequence: {hits: [1, 2, 4]}}",
		New:     func() Schedule { return new(Sequence) },
	})
}

// Sequence is on for the listed hits.
type Sequence struct {
	Hits []int `yaml:"hits" doc:"numbers of requests, counted from 1"`
}

// Active looks at the hit only.
func (s Sequence) Active(_ time.Duration, hit int) bool { return slices.Contains(s.Hits, hit) }

// Check wants hits that can occur, each once.
func (s Sequence) Check() error {
	if len(s.Hits) == 0 {
		return errors.New("sequence.hits is empty, so the rule is never on; list the requests to act on, as in [1, 2, 4]")
	}
	for i, hit := range s.Hits {
		if hit < 1 {
			return fmt.Errorf("sequence.hits has %d, but requests are counted from 1", hit)
		}
		if slices.Contains(s.Hits[:i], hit) {
			return fmt.Errorf("sequence.hits has %d twice", hit)
		}
	}
	return nil
}
