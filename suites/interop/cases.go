package interop

import (
	_ "embed" // for the cases
	"fmt"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
	"github.com/retrygate/retrygate/scenarios"
)

//go:embed cases.yaml
var casesFile []byte

// Case is one answer that a client gets for good.
type Case struct {
	Name    string     `yaml:"case"`
	Method  string     `yaml:"method"` // default GET
	Fault   fault.Spec `yaml:"fault"`
	Clients int        `yaml:"clients"` // how many clients meet it; default 1
	Brief   bool       `yaml:"brief"`   // the tests put clients to it that are slow to start, too
}

var readCases = sync.OnceValue(func() []Case {
	var file struct {
		Cases []Case `yaml:"cases"`
	}
	if err := strict.Decode("cases.yaml", casesFile, &file); err != nil {
		panic(err)
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		if c.Method == "" {
			c.Method = "GET"
		}
		c.Clients = max(1, c.Clients)
	}
	return file.Cases
})

// Cases are all cases, in the order of their file.
func Cases() []Case { return readCases() }

// CaseOf finds a case by its name.
func CaseOf(name string) (Case, error) {
	var names []string
	for _, c := range Cases() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Case{}, fmt.Errorf("there is no case %q%s", name, registry.Suggest(name, names))
}

// caseLimit is how long a client is watched in one case: it sees the waits of a backoff that goes 1, 2, 4 and 8 s.
const caseLimit = 25 * time.Second

// scenario is the case as the driver plays it.
func (c Case) scenario(limit time.Duration) scenarios.Scenario {
	return scenarios.Scenario{
		Name: c.Name, Clients: c.Clients, Limit: limit,
		Rules: []faultserver.Rule{{Name: c.Name, Fault: c.Fault}},
	}
}
