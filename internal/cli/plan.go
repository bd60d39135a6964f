package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

type planFlags struct {
	connection connection
	output     output
	colours    colours
	input      input
	manager    string
	quiet      quietFlag
	// plan sets the fields below.
	migrationOff       bool
	appliedDefinitions *appliedDefinitions
}

func planCommand() *cobra.Command {
	var f planFlags
	command := &cobra.Command{
		Use:   "plan -f FILE [--manager MANAGER]",
		Short: "Show how an apply would change values and ownership, without writing",
		Long: `Show the effect of an apply, computed with dry-run requests. The plan includes the migration from client-side
apply that the apply would perform.

  + ~ -      values that would be added, changed, removed
  own        fields that the manager would own as the only owner
  share      fields that it would own together with other managers
  release    fields that it owns and that the configuration does not contain
  take       fields that other managers would lose, by force or by the migration from client-side apply
  conflict   fields with another value that other managers own, with both values
  stays      fields that it would release and that would remain, with the reason

Values of Secrets are shown as *** in all formats. With -o name, the objects that would change are printed.

The exit code is 0 if nothing would change, 1 if something would change, and 2 on errors.`,
		Example: `  cadastre plan -f web.yaml
  cadastre plan -f deploy/ --manager gitops
  cadastre plan -k overlays/prod -o name`,
		Args: filesOnly,
		RunE: func(c *cobra.Command, _ []string) error {
			return plan(c.Context(), f, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.connection.bind(command.Flags())
	f.output.bind(command.Flags(), "text", "json", "yaml", "name")
	f.colours.bind(command.Flags())
	f.input.bind(command.Flags())
	command.Flags().StringVar(&f.manager, "manager", ownership.KubectlManager, "The `name` of the field manager.")
	f.quiet.bind(command.Flags())
	completeConnection(command, &f.connection)
	completeManagers(command, &f.connection, &f.input)
	completeWords(command, "output", f.output.formats...)
	completeWords(command, "color", "auto", "always", "never")
	return command
}

// plan prints the plan of each object. The exit code is that of diff: 0 without changes, 1 with changes, 2 on errors.
func plan(ctx context.Context, f planFlags, stdin io.Reader, stdout, stderr io.Writer) error {
	plans, err := f.plan(ctx, stdin, stdout, stderr)
	switch {
	case err != nil:
		return &exitError{2, err}
	case slices.ContainsFunc(plans, (*objectPlan).changes):
		return &exitError{code: 1}
	}
	return nil
}

// plan computes and prints the plan of each object. An object that fails does not affect the others.
func (f planFlags) plan(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) ([]*objectPlan, error) {
	if f.manager == "" {
		return nil, &usageError{errNoManager}
	}
	if err := f.output.check(); err != nil {
		return nil, err
	}
	coloured, err := f.colours.enabled(stdout)
	if err != nil {
		return nil, err
	}
	manifests, err := f.input.read(ctx, stdin)
	if err != nil {
		return nil, err
	}
	c, namespace, err := f.connection.open()
	if err != nil {
		return nil, err
	}
	var plans []*objectPlan
	if f.migrationOff, err = isMigrationOff(); err != nil {
		return nil, err
	}
	f.appliedDefinitions = &appliedDefinitions{dryRun: true}
	warned := printWarnings(c, stderr)
	b := batch{verb: "plan", participle: "planned", progress: newProgress(stderr, f.quiet.quiet), stdout: stdout, stderr: stderr}
	err = b.run(manifests, func(m manifest, stdout, stderr io.Writer) error {
		warned.w = stderr
		p, err := planOne(ctx, c, f, namespace, m)
		if err != nil {
			return err
		}
		plans = append(plans, p)
		f.printObject(stdout, p, coloured)
		return nil
	})
	if f.output.format == "json" || f.output.format == "yaml" {
		if printErr := f.output.print(stdout, plansValue(plans)); printErr != nil {
			err = errors.Join(outputError(printErr), err)
		}
	}
	return plans, err
}

// printObject prints the plan of one object. It prints nothing for the formats json and yaml, which print one document at
// the end.
func (f planFlags) printObject(w io.Writer, p *objectPlan, coloured bool) {
	switch {
	case f.output.format == "text":
		planView{w: w, now: time.Now(), coloured: coloured}.print(p)
	case f.output.format == "name" && p.changes():
		fmt.Fprintln(w, p.target)
	}
}

// planOne computes the plan of one object with dry-run requests, including the migration from client-side apply.
func planOne(ctx context.Context, c *cluster.Cluster, f planFlags, namespace string, m manifest) (*objectPlan, error) {
	t, err := f.appliedDefinitions.target(ctx, c, namespace, m)
	if err != nil {
		return nil, err
	}
	if err := f.connection.checkNamespace(m, t); err != nil {
		return nil, err
	}
	a := &applyOperation{
		applyFlags: applyFlags{manager: f.manager, dryRun: true, migrationOff: f.migrationOff},
		cluster:    c, target: t, config: t.withNamespace(m.doc),
	}
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	p := &objectPlan{target: t, manager: f.manager, creates: !a.exists, previousManagers: a.previousManagers}
	p.after, err = a.apply(ctx)
	if refused := (*conflictsError)(nil); errors.As(err, &refused) {
		p.conflicts = refused.conflicts
		a.force = true // the plan shows the result of a forced apply
		p.after, err = a.apply(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, f.appliedDefinitions.explain(t, err))
	}
	p.before = a.original // the object as it was last read before the apply
	topology, err := topologyOrNil(ctx, c, t.kind)
	if err != nil {
		return nil, err
	}
	p.plan, err = ownership.Compare(p.before, p.after, ownership.Selector{Manager: f.manager, Operation: apply.Apply}, topology)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	f.appliedDefinitions.record(p.after.Document)
	p.mask()
	return p, nil
}
