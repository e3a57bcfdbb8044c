package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/strict"
	"github.com/retrygate/retrygate/scenarios"
)

// schemas are the JSON Schemas of the files that people write.
var schemas = map[string]func() map[string]any{
	"contract": assert.Schema,
	"known":    assert.KnownSchema,
	"plan":     func() map[string]any { return strict.Schema(faultserver.Plan{}) },
	"scenario": func() map[string]any { return strict.Schema(scenarios.Scenario{}) },
}

func contractSchema(w *world) *cobra.Command {
	known := slices.Sorted(maps.Keys(schemas))
	return &cobra.Command{
		Use:   "schema [" + strings.Join(known, "|") + "]",
		Short: "Print the JSON Schema of a kind of file, for editors",
		Example: `  retrygate contract schema > contract.schema.json
  retrygate contract schema scenario > scenario.schema.json`,
		ValidArgs: known,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneOf("contract schema", "kind of file", known)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			enc := json.NewEncoder(w.stdout)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			return enc.Encode(schemas[append(args, "contract")[0]]())
		},
	}
}
