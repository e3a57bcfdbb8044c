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
func (w *world) loadContract(file string) (*assert.Contract, error) {
	if file == "" {
		return assert.Strict(), nil
	}
	data, err := w.readInput("contract", file)
	if err != nil {
		return nil, err
	}
	return assert.LoadContract(file, data)
}

// loadKnown reads accepted breaches; none without a file.
func (w *world) loadKnown(file string) (assert.Known, error) {
	if file == "" {
		return nil, nil
	}
	data, err := w.readInput("known breaches", file)
	if err != nil {
		return nil, err
	}
	return assert.LoadKnown(file, data)
}

// loadScenarios gets scenarios by name, or from files; all of the house's when none is named.
func (w *world) loadScenarios(names []string) ([]scenarios.Scenario, error) {
	if len(names) == 0 {
		return scenarios.All(), nil
	}
	var all []scenarios.Scenario
	var errs []error
	seen := map[string]bool{}
	for _, name := range apart(names) {
		s, err := w.loadScenario(name)
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

// apart splits names with commas between them; a file may have some in its name.
func apart(values []string) (names []string) {
	for _, v := range values {
		if _, err := os.Stat(v); err == nil {
			names = append(names, v)
			continue
		}
		names = append(names, strings.Split(v, ",")...)
	}
	return names
}

func (w *world) loadScenario(name string) (scenarios.Scenario, error) {
	if name != "-" && !strings.ContainsAny(name, `/\`) && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		s, err := scenarios.Get(name)
		if info, statErr := os.Stat(name); err != nil && statErr == nil && !info.IsDir() {
			err = fmt.Errorf("%w; for the file of that name write ./%s", err, name)
		}
		return s, err
	}
	data, err := w.readInput("scenario", name)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	return scenarios.Load(name, data, assert.Kinds.Names()...)
}
