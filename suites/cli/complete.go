package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// completeNames completes the values of those flags that cmd has and that name things. Shell completion cannot report an
// error, so those of RegisterFlagCompletionFunc (no such flag) are left alone.
func completeNames(cmd *cobra.Command) {
	levels := []string{"advisory", "minor", "major", "critical"}
	for flag, names := range map[string]func() []string{
		"scenario": func() []string { return described(scenarioItems()) },
		"fail-on":  func() []string { return levels },
		"worker":   func() []string { return workerNames },
		"report":   func() []string { return suffixed(formatNames(), "=") },
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			directive := cobra.ShellCompDirectiveNoFileComp
			if flag == "report" {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			return names(), directive
		})
	}
}

// described pairs names with what shells show beside them.
func described(items []item) []string {
	names := make([]string, len(items))
	for i, x := range items {
		names[i] = x.Name + "\t" + strings.ReplaceAll(x.Summary, "\n", " ")
	}
	return names
}

func suffixed(names []string, suffix string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n + suffix
	}
	return out
}
