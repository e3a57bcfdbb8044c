package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot(w *world) *cobra.Command {
	w.color = colorAuto
	cobra.EnableCommandSorting = false // help shows them by use
	root := &cobra.Command{
		Use:   "retrygate",
		Short: "Prove that an HTTP client keeps its retry contract",
		Long: `retrygate proves, before production does, that HTTP clients keep their
retry contract.

A fault server stands where the API stood and misbehaves on purpose. It
writes every request down with its time, and a checker judges the client
by that history: was a 400 sent again, were retries capped, did the waits
grow and spread, was Retry-After kept, did all clients come back in the
same instant?`,
		Example: `  retrygate verify -- curl -sS --retry 3 '{{url}}/driver/status'
  retrygate verify --contract contract.yaml -- python3 client.py
  retrygate serve --scenario 503-burst
  retrygate explain jitter-present`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().Var(&w.color, "color", "colour the output: auto, always or never")
	root.SetFlagErrorFunc(flagError)
	wrapped := fmt.Sprintf(".FlagUsagesWrapped %d", columns(w.style(w.stdout)))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", wrapped))
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.AddCommand(newVerify(w), newServe(w), newReport(w), newInfer(w), newList(w), newExplain(w), newContract(w), newVersion(w))
	refuseUnknown(root)
	return root
}

// refuseUnknown gives the commands that cobra adds by itself an error, where they would show help and call it a success.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			group(cmd)
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					return fmt.Errorf("help: %w", unknown("command", rest[0], subcommands(found)))
				}
				return err
			}
		}
	}
}

// group makes cmd a mere holder of subcommands, with its own word on a missing or misspelt one.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known := subcommands(cmd)
		if len(args) == 0 {
			return fmt.Errorf("%s: say what to do: %s", cmd.Name(), strings.Join(known, ", "))
		}
		return fmt.Errorf("%s: %w", cmd.Name(), unknown("command", args[0], known))
	}
	return cmd
}

func subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// usage says an error of cobra's in this program's words; other errors stay as they are.
func usage(root *cobra.Command, err error) error {
	rest, ok := strings.CutPrefix(err.Error(), "unknown command ")
	if !ok {
		return err
	}
	quoted, prefixErr := strconv.QuotedPrefix(rest)
	if prefixErr != nil {
		return err
	}
	name, _ := strconv.Unquote(quoted)
	return unknown("command", name, subcommands(root))
}

// flagError explains a flag that could not be parsed.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var empty *pflag.ValueRequiredError
	switch {
	case errors.As(err, &missing):
		err = missingFlag(cmd, missing)
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, redacted(invalid.GetValue()), invalid.Unwrap())
	case errors.As(err, &empty):
		_, what := pflag.UnquoteUsage(empty.GetFlag())
		err = fmt.Errorf("--%s needs a value: %s", empty.GetFlag().Name, what)
	}
	if !cmd.HasParent() {
		return err
	}
	return fmt.Errorf("%s: %w", cmd.Name(), err)
}

// redacted hides the password of a URL that was given as a value.
func redacted(value string) string {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	return value
}

func missingFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if group := e.GetSpecifiedShortnames(); group != "" {
		return fmt.Errorf("unknown flag -%s; flags of retrygate have two dashes, and a client's own flags come after --", group)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return unknown("flag", "--"+e.GetSpecifiedName(), known)
}
