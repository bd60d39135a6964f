package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs cadastre with args and returns the exit code: 0 for success, 1 for failure, 2 for a usage error. Some verbs,
// such as plan, document exit codes of their own.
func Main(args []string, stdout, stderr io.Writer) int {
	return run(Command(), args, stdout, stderr)
}

func run(command *cobra.Command, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // after the first signal, a second one terminates the process immediately
	command.SetArgs(args)
	checked := &checkedWriter{w: stdout}
	command.SetOut(checked)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	if err == nil || checked.isWriteError(err) {
		err = checked.firstError() // a run whose output could not be written has failed
	}
	if err == nil {
		return 0
	}
	exit := (*exitError)(nil)
	if errors.As(err, &exit) && exit.err == nil {
		return exit.code
	}
	if exit != nil {
		err = exit.err
	}
	fmt.Fprintf(stderr, "%s: %s\n", command.DisplayName(), escapeLines(err.Error()))
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return 2
	}
	if exit != nil {
		return exit.code
	}
	return 1
}

// exitError is an error with the exit code of the process. If its err is nil, no error message is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprintf("exit with %d: %v", e.code, e.err) }
func (e *exitError) Unwrap() error { return e.err }

// usageError is an error in the arguments or flags. The exit code is 2.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Command returns a new command tree of cadastre.
func Command() *cobra.Command {
	command := newCommand("cadastre", "A Kubernetes-compatible API server, and tools for Server-Side Apply")
	command.AddCommand(serveCommand(), envtestCommand(), conformanceCommand(), lintCRDCommand(), ownCommand(), storageCommand(), userCommand(), versionCommand())
	command.AddCommand(objectCommands()...)
	configureCompletion(command)
	describeHelp(command)
	return command
}

// describeHelp sets the description of the flag --help for command and its subcommands.
func describeHelp(command *cobra.Command) {
	command.InitDefaultHelpFlag()
	if f := command.Flags().Lookup("help"); f != nil {
		f.Usage = "Print this help."
	}
	for _, verb := range command.Commands() {
		describeHelp(verb)
	}
}

// configureCompletion adds examples to the completion command and makes it reject unsupported shells instead of
// printing its help.
func configureCompletion(command *cobra.Command) {
	command.InitDefaultCompletionCmd()
	for _, c := range command.Commands() {
		if c.Name() != "completion" {
			continue
		}
		var names []string
		for _, shell := range c.Commands() {
			names = append(names, shell.Name())
			shell.Example = "  " + command.Name() + " completion " + shell.Name()
			c.Example += shell.Example + "\n"
		}
		c.Args = subcommandArgs("completion", names)
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // cobra checks the arguments only of commands with a Run function
	}
}

// subcommandArgs returns an argument check for the command verb, which has only the subcommands names. It rejects every
// argument, because cobra passes only arguments that are not a subcommand.
func subcommandArgs(verb string, names []string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return &usageError{fmt.Errorf("%s: expected %s, received %q", verb, joinOr(names), args[0])}
		}
		return nil
	}
}

// joinOr joins words to a list of alternatives for a message: "a, b or c".
func joinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// objectCommands returns the verbs that work on objects of any API server. They are part of both cadastre and the kubectl
// plugin.
func objectCommands() []*cobra.Command {
	return []*cobra.Command{blameCommand(), applyCommand(), planCommand(), extractCommand(), migrateCommand(), convertPatchCommand()}
}

// groupCommand returns a command that has only subcommands and prints its help if it is called without one.
func groupCommand(name, about string, verbs ...*cobra.Command) *cobra.Command {
	var names, examples []string
	for _, verb := range verbs {
		names = append(names, verb.Name())
		examples = append(examples, verb.Example)
	}
	command := &cobra.Command{
		Use:     name,
		Short:   about,
		Example: strings.Join(examples, "\n"),
		Args:    subcommandArgs(name, names),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	command.AddCommand(verbs...)
	return command
}

// filesOnly rejects positional arguments of verbs that read objects with -f or -k.
func filesOnly(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("%s: expected no arguments, received %q; name files with -f", c.Name(), args)}
	}
	return nil
}

// newCommand returns the root command of a program.
func newCommand(name, about string) *cobra.Command {
	command := &cobra.Command{
		Use:           name,
		Short:         about,
		SilenceErrors: true,
		SilenceUsage:  true,
		// A command is suggested if its edit distance to the argument is at most 2.
		SuggestionsMinimumDistance: 2,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	command.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c.HasSubCommands() && c.Flags().NArg() > 0 { // report a misspelled subcommand rather than its flag
			if unknown := c.Args(c, c.Flags().Args()); unknown != nil {
				return unknown
			}
		}
		return &usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
	})
	return command
}

func unknownCommand(c *cobra.Command, name string) error {
	suggestions := c.SuggestionsFor(name)
	if len(suggestions) == 0 {
		return &usageError{fmt.Errorf("unknown command %q; see %s --help", name, c.CommandPath())}
	}
	return &usageError{fmt.Errorf("unknown command %q; did you mean %s? See %s --help", name, joinOr(suggestions), c.CommandPath())}
}
