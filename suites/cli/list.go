package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert/report"
)

func newList(w *world) *cobra.Command {
	var asJSON bool
	names := make([]string, len(catalogues))
	for i, c := range catalogues {
		names[i] = c.name
	}
	cmd := &cobra.Command{
		Use:   "list " + strings.Join(names, "|"),
		Short: "List what can be named in files and on the command line",
		Example: `  retrygate list scenarios
  retrygate list clauses --json`,
		ValidArgs: names,
		Args:      oneOf("list", "catalogue", names),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, c := range catalogues {
				if c.name == args[0] {
					return w.list(c.items(), asJSON)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "everything that is known about each, for programs")
	return cmd
}

// oneOf asks for exactly one argument out of known.
func oneOf(command, what string, known []string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: name one %s: %s", command, what, strings.Join(known, ", "))
		}
		for _, k := range known {
			if k == args[0] {
				return nil
			}
		}
		return fmt.Errorf("%s: %w", command, unknown(what, args[0], known))
	}
}

// more is what stands next to the name.
func (x item) more() string { return x.Level + x.AsOf }

func (w *world) list(items []item, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(items)
	}
	s := w.style(w.stdout)
	paint := report.Paint(s.Color)
	name, more := 0, 0
	for _, x := range items {
		name, more = max(name, len(x.Name)), max(more, len(x.more()))
	}
	for _, x := range items {
		label := fmt.Sprintf("%-*s  ", name, x.Name)
		shown := paint.Cyan(x.Name) + label[len(x.Name):]
		if more > 0 {
			label += fmt.Sprintf("%-*s  ", more, x.more())
			shown += paint.Dim(label[name+2:])
		}
		for i, line := range report.Wrap(x.Summary, columns(s)-len(label)) {
			if i > 0 {
				shown = strings.Repeat(" ", len(label))
			}
			fmt.Fprintf(w.stdout, "%s%s\n", shown, line)
		}
	}
	return nil
}
