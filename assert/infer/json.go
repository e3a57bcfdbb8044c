package infer

import (
	"encoding/json"
	"io"
)

func init() {
	Formats.Add("json", Format{Name: "json", Summary: "everything, for programs", Write: writeJSON})
}

// writeJSON writes empty lists as [] and not as null.
func writeJSON(w io.Writer, in Inference, _ int) error {
	in.Files, in.Notes = append([]string{}, in.Files...), append([]string{}, in.Notes...)
	in.Policies = append([]Named{}, in.Policies...)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(in)
}
