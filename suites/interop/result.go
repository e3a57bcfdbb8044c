package interop

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
)

// Result is what came of one client: what the scoreboard is made of.
type Result struct {
	Language    string         `json:"language"` // the folder's name
	Client      string         `json:"client"`   // the file's name without its end
	Version     string         `json:"version"`  // that was run
	Seen        []Seen         `json:"seen"`
	Policy      string         `json:"policy"` // inferred from the waits after 503, in words
	Report      *report.Report `json:"report"` // by the strict contract; nil: not judged
	Differences []string       `json:"differences"`
}

// Differences says how the verdicts differ from the promises that the client is known not to keep. Where time is not exact, a
// verdict that a slow machine leaves open is no difference.
func (p Promises) Differences(r report.Report, exact bool) (all []string) {
	for _, e := range r.Errors {
		all = append(all, "not judged: "+e)
	}
	for _, j := range assert.Strict().Judges() {
		id := j.Kind.ID
		verdict, detail := worst(r, id)
		_, chance := p.Chance[id]
		_, caller := p.Caller[id]
		switch expected := slices.Contains(p.Breaks, id); {
		case verdict == assert.Fail && !expected && !caller && !chance:
			all = append(all, id+" is broken, and was expected to be kept: "+detail)
		case verdict != assert.Fail && expected && (exact || verdict != assert.Inconclusive):
			all = append(all, id+" is "+verdict.String()+", and was expected to be broken")
		}
	}
	return all
}

// worst is the verdict of a clause over all scenarios, and what was found.
func worst(r report.Report, clause string) (v assert.Verdict, detail string) {
	for _, x := range r.Results {
		if x.Clause == clause && x.Verdict >= v {
			v, detail = x.Verdict, "in "+x.Scenario+": "+x.Detail
		}
	}
	return v, detail
}

// name is the result's file, below the folder of results.
func (r Result) name() string { return r.Language + "-" + r.Client + ".json" }

// Write keeps the result in a folder.
func (r Result) Write(dir string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, r.name()), data, 0o644))
}

// Results reads what a folder holds, by language and client.
func Results(dir string) ([]Result, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Result
	for _, f := range files {
		var r Result
		data, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Result) int {
		return cmp.Or(strings.Compare(a.Language, b.Language), strings.Compare(a.Client, b.Client))
	})
	return all, nil
}
