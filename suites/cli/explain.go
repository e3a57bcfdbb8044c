package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert/report"
)

func newExplain(w *world) *cobra.Command {
	return &cobra.Command{
		Use:   "explain NAME",
		Short: "Say what a clause, scenario, fault or schedule is, and why",
		Long: `Says what is known about a clause, scenario, fault kind, schedule, profile,
report format or log format: what it is, why, how it is measured, how to fix a client that
breaks it, and how it is written. What a contract can set for a clause comes last: attempts.max
stands in the section attempts, "set max" under the clause's name in the section clauses.`,
		Example: `  retrygate explain jitter-present
  retrygate explain 503-burst`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("explain: name one clause, scenario, fault kind, schedule, profile, report or log format; see retrygate list")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return everyName(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return w.explain(args[0]) },
	}
}

// everyName lists all that explain knows.
func everyName() (names []string) {
	for _, c := range catalogues {
		for _, x := range c.items() {
			names = append(names, x.Name)
		}
	}
	return names
}

// explain shows every thing of that name: hang, for one, is a fault kind and a scenario.
func (w *world) explain(name string) error {
	found := false
	for _, c := range catalogues {
		for _, x := range c.items() {
			if x.Name != name {
				continue
			}
			if found {
				fmt.Fprintln(w.stdout)
			}
			found = true
			w.show(c.item, x)
		}
	}
	if !found {
		return fmt.Errorf("explain: %w", unknown("name", name, everyName()))
	}
	return nil
}

func (w *world) show(kind string, x item) {
	s := w.style(w.stdout)
	paint := report.Paint(s.Color)
	if x.Level != "" {
		kind += ", " + x.Level
	}
	fmt.Fprintf(w.stdout, "%s  %s\n", paint.Bold(x.Name), paint.Dim("("+kind+")"))
	for _, line := range report.Wrap(x.Summary, columns(s)-2) {
		fmt.Fprintf(w.stdout, "  %s\n", line)
	}
	if len(x.Facts) > 0 {
		fmt.Fprintln(w.stdout)
	}
	column := 0
	for _, f := range x.Facts {
		column = max(column, len(f.what))
	}
	for _, f := range x.Facts {
		label := fmt.Sprintf("  %-*s  ", column, f.what)
		for i, line := range report.Wrap(f.text, columns(s)-len(label)) {
			if i == 0 {
				fmt.Fprintf(w.stdout, "%s%s\n", paint.Dim(label), line)
			} else {
				fmt.Fprintf(w.stdout, "%s%s\n", strings.Repeat(" ", len(label)), line)
			}
		}
	}
	w.block("example", x.Example)
	w.block("file", x.File)
}

// block shows lines as they are, under a title.
func (w *world) block(title, text string) {
	if text == "" {
		return
	}
	paint := report.Paint(w.style(w.stdout).Color)
	fmt.Fprintf(w.stdout, "\n%s\n", paint.Dim("  "+title))
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintln(w.stdout, strings.TrimRight("    "+line, " \n"))
	}
}
