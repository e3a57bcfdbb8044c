package infer

import (
	"io"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Inference is what infer found in a history: one policy, or one for each client.
type Inference struct {
	Version  string   `json:"version"`
	Files    []string `json:"files"`
	Policies []Named  `json:"policies"`
	Notes    []string `json:"notes"`
}

// Named is the policy of one client, or of all together.
type Named struct {
	Client   string `json:"client"` // "" for all
	Sentence string `json:"sentence"`
	Policy   Policy `json:"policy"`
}

// Format is one way to write an inference.
type Format struct {
	Name, Summary string
	Write         func(w io.Writer, in Inference, width int) error
}

// Formats holds every format, one a file.
var Formats = registry.New[Format]("inference format")
