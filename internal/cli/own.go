package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

type ownFlags struct {
	connection       connection
	output           output
	from, to         string
	subresource      string
	update, dryRun   bool
	requiresReceiver bool
}

func ownCommand() *cobra.Command {
	return groupCommand("own", "Release fields, or transfer them to another field manager", releaseCommand(), transferCommand())
}

const aboutPaths = `

A PATH has the form spec.replicas, spec.template.spec.containers[name=app].image, metadata.labels["example.com/team"]
or metadata.finalizers[=example.com/x]. Fields below the path are included.`

func releaseCommand() *cobra.Command {
	var f ownFlags
	command := &cobra.Command{
		Use:   "release TYPE NAME PATH…",
		Short: "Remove fields from the ownership of a manager, without changing values",
		Long: `Remove fields from the managed fields entry of a manager. Values do not change. If the manager's configuration still
contains the fields, its next apply owns them again.` + aboutPaths,
		Example: `  cadastre own release deployment web spec.replicas --manager ci`,
		RunE: func(c *cobra.Command, args []string) error {
			return own(c.Context(), f, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.bind(command)
	command.Flags().StringVar(&f.from, "manager", "", "The field `manager` that releases the fields. Required if a field has several owners.")
	completeObjects(command, &f.connection, 1, "manager")
	completeArguments(command, &f.connection, f.releasablePaths)
	return command
}

func transferCommand() *cobra.Command {
	f := ownFlags{requiresReceiver: true}
	command := &cobra.Command{
		Use:   "transfer TYPE NAME PATH… --to MANAGER",
		Short: "Move fields from one field manager to another, without changing values",
		Long: `Move fields from the managed fields entry of one manager to that of another. Values do not change. The receiving
entry has the operation Apply, or Update with --update.` + aboutPaths,
		Example: `  cadastre own transfer deployment web spec.replicas --to autoscaler
  cadastre own transfer deploy/web 'metadata.labels["example.com/team"]' --from ci --to ops`,
		RunE: func(c *cobra.Command, args []string) error {
			return own(c.Context(), f, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.bind(command)
	command.Flags().StringVar(&f.from, "from", "", "The field `manager` that releases the fields. Required if a field has several owners.")
	command.Flags().StringVar(&f.to, "to", "", "The field `manager` that receives the fields. Required.")
	command.Flags().BoolVar(&f.update, "update", false, "Add the fields to the receiver's entry with the operation Update instead of Apply.")
	completeObjects(command, &f.connection, 1, "from", "to")
	completeArguments(command, &f.connection, f.releasablePaths)
	return command
}

func (f *ownFlags) bind(command *cobra.Command) {
	f.connection.bind(command.Flags())
	f.output.bind(command.Flags(), "text", "json", "yaml", "name")
	completeWords(command, "output", f.output.formats...)
	command.Flags().StringVar(&f.subresource, "subresource", "", "The `subresource` at which the fields are owned. The default is any except status.")
	bindDryRun(command.Flags(), &f.dryRun, "Print the fields that would move, and write nothing.")
	completeWords(command, "dry-run", dryRunWords...)
}

func (f ownFlags) check() error {
	if f.requiresReceiver && f.to == "" {
		return &usageError{errors.New("--to must be set to the field manager that receives the fields")}
	}
	return f.output.check()
}

// receiverSelector returns the selector of the managed fields entry that receives the fields; nil for release.
func (f ownFlags) receiverSelector() *ownership.Selector {
	if f.to == "" {
		return nil
	}
	to := &ownership.Selector{Manager: f.to, Operation: apply.Apply, Subresource: f.subresource}
	if f.update {
		to.Operation = apply.Update
	}
	return to
}

// releaser returns the selector of the managed fields entries that release the fields.
func (f ownFlags) releaser() ownership.Selector {
	from := ownership.Selector{Manager: f.from, Subresource: f.subresource}
	if f.subresource == "" {
		from.Subresource = ownership.AnySubresource
	}
	return from
}

// own releases or transfers fields: it reads the object, computes the new managedFields and writes them. After a write
// conflict it starts again.
func own(ctx context.Context, f ownFlags, args []string, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	c, namespace, err := f.connection.open()
	if err != nil {
		return err
	}
	printWarnings(c, stderr)
	t, rest, err := parseTarget(ctx, c, namespace, args)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return &usageError{errors.New("at least one field path must be given, such as spec.replicas")}
	}
	expressions, err := parsePaths(rest)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		if err := f.attemptMove(ctx, c, t, expressions, stdout); !retryAfterConflict(ctx, err, attempt) {
			return err
		}
	}
}

// parsePaths parses field paths from arguments or flags. An invalid path is a usage error.
func parsePaths(texts []string) ([]ownership.PathExpression, error) {
	paths := make([]ownership.PathExpression, len(texts))
	for i, text := range texts {
		var err error
		if paths[i], err = ownership.ParsePath(text); err != nil {
			return nil, &usageError{err}
		}
	}
	return paths, nil
}

func (f ownFlags) attemptMove(ctx context.Context, c *cluster.Cluster, t target, expressions []ownership.PathExpression, stdout io.Writer) error {
	o, err := t.get(ctx, c)
	if err != nil {
		return err
	}
	o, result, err := t.computeMove(ctx, c, o, func(o apply.Object) (ownership.Result, error) { return f.change(o, expressions) })
	if err != nil {
		return f.withSubresourceHint(err)
	}
	if !result.NoOp() && !f.dryRun {
		if err := t.writeManagedFields(ctx, c, o, result.Entries); err != nil {
			return withUnknownOutcome(err)
		}
	}
	err = f.printResult(t, result, stdout)
	if err != nil && !result.NoOp() && !f.dryRun {
		return &targetError{t, fmt.Errorf("managedFields were changed, but %w", outputError(err))}
	}
	return err
}

// withSubresourceHint returns err. If err means that the field is owned only at a subresource, withSubresourceHint adds a
// hint to use --subresource.
func (f ownFlags) withSubresourceHint(err error) error {
	var notOwned *ownership.NotOwnedError
	if !errors.As(err, &notOwned) || f.subresource != "" {
		return err
	}
	for _, e := range notOwned.Owners {
		if (f.from == "" || f.from == e.Manager) && !f.releaser().Selects(e) {
			return fmt.Errorf("%w; use --subresource %s to select it", err, e.Subresource)
		}
	}
	return err
}

// withUnknownOutcome returns err. If the server did not respond to the write, withUnknownOutcome adds that managedFields
// may have been changed.
func withUnknownOutcome(err error) error {
	if noResponse := (*cluster.NoResponseError)(nil); errors.As(err, &noResponse) && noResponse.OutcomeUnknown {
		return fmt.Errorf("%w; managedFields may have been changed; run the command again", err)
	}
	return err
}

// change resolves the path expressions in o, and computes the managed fields entries after the release or transfer. It
// writes nothing.
func (f ownFlags) change(o apply.Object, expressions []ownership.PathExpression) (ownership.Result, error) {
	paths := make([]fieldset.Path, len(expressions))
	for i, w := range expressions {
		var err error
		if paths[i], err = w.Resolve(o); err != nil {
			return ownership.Result{}, err
		}
		if err := f.checkSingleReleaser(o, paths[i]); err != nil {
			return ownership.Result{}, err
		}
	}
	if to := f.receiverSelector(); to != nil {
		return ownership.Transfer(o, f.releaser(), *to, paths...)
	}
	return ownership.Release(o, f.releaser(), paths...)
}

// checkSingleReleaser returns a usage error if path has several owners in o and no flag names the field manager that
// releases it.
func (f ownFlags) checkSingleReleaser(o apply.Object, path fieldset.Path) error {
	owners, err := ownership.Owners(o, path)
	if err != nil || f.from != "" {
		return err
	}
	var releasers []apply.Entry
	for _, e := range owners {
		if to := f.receiverSelector(); f.releaser().Selects(e) && (to == nil || !to.Selects(e)) {
			releasers = append(releasers, e)
		}
	}
	if len(releasers) < 2 {
		return nil
	}
	flag := "--manager"
	if f.requiresReceiver {
		flag = "--from"
	}
	return &usageError{fmt.Errorf("%s has several owners: %s; select one with %s", formatPath(path), entryNames(releasers), flag)}
}

// printResult prints the change of ownership in the format of -o.
func (f ownFlags) printResult(t target, result ownership.Result, stdout io.Writer) error {
	switch f.output.format {
	case "json", "yaml":
		return f.output.print(stdout, f.value(t, result))
	case "name":
		_, err := fmt.Fprintln(stdout, t)
		return err
	}
	_, err := io.WriteString(stdout, f.text(t, result))
	return err
}

// text formats the change of ownership for -o text.
func (f ownFlags) text(t target, result ownership.Result) string {
	if result.NoOp() {
		return fmt.Sprintf("%s: unchanged\n", t)
	}
	var text strings.Builder
	for _, m := range result.Moves {
		var paths []string
		for path := range m.Fields.All() {
			paths = append(paths, formatPath(path))
		}
		did := "released by " + entryName(m.From)
		if f.to != "" {
			did = fmt.Sprintf("%s -> %s", entryName(m.From), entryName(f.receiverEntry()))
		}
		if f.dryRun {
			did += " (dry run)"
		}
		fmt.Fprintf(&text, "%s: %s: %s\n", t, did, strings.Join(paths, ", "))
	}
	return text.String()
}

// receiverEntry returns the managed fields entry that receives the fields, without its fields.
func (f ownFlags) receiverEntry() apply.Entry {
	to := f.receiverSelector()
	return apply.Entry{Manager: to.Manager, Operation: to.Operation, Subresource: to.Subresource}
}

// value returns the change of ownership as a document for -o json and -o yaml.
func (f ownFlags) value(t target, result ownership.Result) document.Value {
	fields := append(t.fields(),
		document.Field{Name: "changed", Value: document.NewBool(!result.NoOp() && !f.dryRun)},
		document.Field{Name: "dryRun", Value: document.NewBool(f.dryRun)},
		document.Field{Name: "moves", Value: moveValues(result.Moves)},
	)
	if f.to != "" {
		fields = append(fields, document.Field{Name: "to", Value: entryValue(f.receiverEntry())})
	}
	return document.NewMap(fields...)
}
