package playbook

import (
	"io"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// Format is one way to write findings.
type Format struct {
	Name, Summary string
	Write         func(w io.Writer, f Findings, s report.Style) error
}

// Formats holds every registered format.
var Formats = registry.New[Format]("findings format")

func register(f Format) { Formats.Add(f.Name, f) }
