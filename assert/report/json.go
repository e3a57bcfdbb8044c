package report

import (
	"encoding/json"
	"io"
	"math"
)

func init() {
	register(Format{Name: "json", Summary: "everything, for programs", Write: writeJSON})
}

// writeJSON writes empty lists as [] and not as null, so that a reader need not tell them apart.
func writeJSON(w io.Writer, r Report, _ Style) error {
	r.Clients, r.Scenarios, r.Results = list(r.Clients), list(r.Scenarios), list(r.Results)
	r.Waits, r.Notes, r.Errors = list(r.Waits), list(r.Notes), list(r.Errors)
	for i := range r.Clients {
		r.Clients[i].Command = list(r.Clients[i].Command)
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		s.Notes, s.Calls, s.Seconds = list(s.Notes), list(s.Calls), math.Round(s.Seconds*1000)/1000
		if s.Fired == nil {
			s.Fired = map[string]uint64{}
		}
		if s.Uncharged == nil {
			s.Uncharged = map[string]int{}
		}
	}
	for i := range r.Results {
		r.Results[i].Witness = list(r.Results[i].Witness)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// list returns a copy that is never nil.
func list[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }
