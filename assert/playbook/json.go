package playbook

import (
	"encoding/json"
	"io"

	"github.com/retrygate/retrygate/assert/report"
)

func init() {
	register(Format{Name: "json", Summary: "everything, for programs", Write: writeJSON})
}

// writeJSON writes empty lists as [] and not as null.
func writeJSON(w io.Writer, f Findings, _ report.Style) error {
	f.Files, f.Accused, f.Others, f.Endpoints = list(f.Files), list(f.Accused), list(f.Others), list(f.Endpoints)
	f.Alerts, f.Notes = list(f.Alerts), list(f.Notes)
	for _, clients := range [][]Client{f.Accused, f.Others} {
		for i := range clients {
			clients[i].Statuses, clients[i].Breaks = list(clients[i].Statuses), list(clients[i].Breaks)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(f)
}

// list returns a copy that is never nil.
func list[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }
