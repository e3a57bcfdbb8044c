package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
)

func newContract(w *world) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "contract",
		Short: "Write, check and print the contract that both teams sign",
		Example: `  retrygate contract init contract.yaml
  retrygate contract lint contract.yaml
  retrygate contract doc contract.yaml > CONTRACT.md`,
	})
	cmd.AddCommand(contractInit(w), contractLint(w), contractDoc(w), contractSchema(w))
	return cmd
}

func contractInit(w *world) *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a first contract to edit, contract.yaml or FILE (- is stdout)",
		Example: `  retrygate contract init
  retrygate contract init --profile aws
  retrygate contract init -`,
		Args: atMostOne("contract init", "file"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "contract.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			text, err := assert.InitFrom(profile)
			if err != nil {
				return fmt.Errorf("contract init: %w", err)
			}
			if file == "-" {
				_, err := w.stdout.Write(text)
				return err
			}
			return w.createContract("contract init", file, text)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "strict", "base it on the profile of this `NAME`")
	return cmd
}

// createContract never writes over a file: a signed contract may be in it.
func (w *world) createContract(command, file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	var path *os.PathError
	switch {
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("%s: %s exists already and is left alone; name another file", command, file)
	case errors.As(err, &path):
		return fmt.Errorf("%s: %s: %w", command, file, path.Err)
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Close())
	}
	fmt.Fprintf(w.stdout, "wrote %s: edit it, check it with retrygate contract lint %s,\nshow it to the other team with retrygate contract doc %s\n", file, file, file)
	return f.Close()
}

func contractLint(w *world) *cobra.Command {
	return &cobra.Command{
		Use:     "lint FILE...",
		Short:   "Check contracts: spelling, values and contradictions, all at once",
		Example: "  retrygate contract lint contract.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("contract lint: name a file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			for _, file := range args {
				errs = append(errs, w.lint(file))
			}
			return errors.Join(errs...)
		},
	}
}

func (w *world) lint(file string) error {
	c, err := w.loadContract(file)
	if err != nil {
		return err
	}
	var errs []error
	for _, contradiction := range c.Lint() {
		errs = append(errs, fmt.Errorf("%s: %s", file, contradiction))
	}
	if len(errs) == 0 {
		fmt.Fprintf(w.stdout, "%s: sound; profile %s, %d clauses\n", file, c.Profile, len(c.Judges()))
	}
	return errors.Join(errs...)
}

func contractDoc(w *world) *cobra.Command {
	return &cobra.Command{
		Use:   "doc [FILE]",
		Short: "Print a contract as the page that both teams read",
		Example: `  retrygate contract doc contract.yaml > CONTRACT.md
  retrygate contract doc`,
		Args: atMostOne("contract doc", "file"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			c, err := w.loadContract(file)
			if err != nil {
				return err
			}
			return c.Doc(w.stdout)
		},
	}
}

// atMostOne asks for one argument or none.
func atMostOne(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s: takes one %s, got %d: %q", command, what, len(args), args)
		}
		return nil
	}
}
