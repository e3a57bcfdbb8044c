package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
)

// loadContract reads a contract; without a file it is the strict profile.
func loadContract(file string) (*assert.Contract, error) {
	if file == "" {
		return assert.Strict(), nil
	}
	data, err := readInput("contract", file)
	if err != nil {
		return nil, err
	}
	return assert.LoadContract(file, data)
}

// loadScenarios gets scenarios by name, or from files; all of the house's when none is named.
func loadScenarios(names []string) ([]scenarios.Scenario, error) {
	if len(names) == 0 {
		return scenarios.All(), nil
	}
	var all []scenarios.Scenario
	var errs []error
	seen := map[string]bool{}
	for _, name := range names {
		s, err := loadScenario(name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case seen[s.Name]:
			errs = append(errs, fmt.Errorf("scenario %s is named twice", s.Name))
		}
		seen[s.Name] = true
		all = append(all, s)
	}
	return all, errors.Join(errs...)
}

func loadScenario(name string) (scenarios.Scenario, error) {
	if !strings.ContainsAny(name, `/\`) && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return scenarios.Get(name)
	}
	data, err := readInput("scenario", name)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	s, err := scenarios.Load(name, data)
	if err != nil {
		return s, err
	}
	// Scenarios do not know clauses, so the names in their judges list are checked here.
	var errs []error
	for _, id := range s.Judges {
		if _, err := assert.Kinds.Get(id); err != nil {
			errs = append(errs, fmt.Errorf("scenario %s: judges: %w", name, err))
		}
	}
	return s, errors.Join(errs...)
}

// readInput reads a file for a command, with an error that names it once and says what is wrong.
func readInput(what, file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	var path *os.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("%s %s: %w", what, file, path.Err)
	}
	if err == nil && strings.TrimSpace(string(data)) == "" {
		return nil, fmt.Errorf("%s %s: the file is empty", what, file)
	}
	return data, err
}
