package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

type planFlags struct {
	connection connection
	input      input
	manager    string
}

func planCommand() *cobra.Command {
	var f planFlags
	command := &cobra.Command{
		Use:   "plan -f FILE [--manager MANAGER]",
		Short: "Show what an apply would do to values and owners, without writing",
		Long: `Show what applying would do, as the server answers a dry run, the migration from client-side apply
that comes before it included:

  + ~ -      values that are added, changed, removed
  own        fields that the manager comes to own, and share, those that it owns beside others
  release    fields that it owned and does not apply any more
  take       fields that others lose, because you would have to force, or because client-side apply
             gives them up to you first
  conflict   fields that others own and that have another value; shown are both values
  stays      fields that it does not apply any more and that are there nevertheless, and why

It exits with 0 if nothing would change, 1 if something would, and 2 if that can't be told.`,
		Example: `  cadastre plan -f web.yaml
  cadastre plan -f deploy/ --manager gitops`,
		Args: onlyFiles,
		RunE: func(c *cobra.Command, _ []string) error {
			return plan(c.Context(), f, c.InOrStdin(), c.OutOrStdout())
		},
	}
	f.connection.bind(command.Flags())
	f.input.bind(command.Flags(), "plan to apply")
	command.Flags().StringVar(&f.manager, "manager", ownership.Kubectl, "the `manager` that would apply")
	completeConnection(command, &f.connection)
	return command
}

// plan asks about each object. Whatever fails is no answer: it exits as diff does then.
func plan(ctx context.Context, f planFlags, stdin io.Reader, stdout io.Writer) error {
	manifests, err := f.input.read(ctx, stdin)
	if err != nil {
		return &exitError{2, err}
	}
	c, namespace, err := f.connection.open()
	if err != nil {
		return &exitError{2, err}
	}
	changes := false
	var failed []error
	for _, m := range manifests {
		p, err := planOne(ctx, c, f, namespace, m)
		if err != nil {
			failed = append(failed, err)
			if lost := (*cluster.NoAnswerError)(nil); errors.As(err, &lost) {
				break // nor would it answer about the others
			}
			continue
		}
		p.print(stdout, time.Now())
		changes = changes || p.creates || !p.plan.IsEmpty()
	}
	switch {
	case len(failed) > 0:
		return &exitError{2, errors.Join(failed...)}
	case changes:
		return &exitError{code: 1}
	}
	return nil
}

// planned is what applying an object would do.
type planned struct {
	target        target
	manager       string
	creates       bool
	from          []string // who gives its fields up to the manager first
	before, after apply.Object
	plan          ownership.Plan
	conflicts     []conflict
}

// planOne asks what applying would do, the migration that comes before it included.
func planOne(ctx context.Context, c *cluster.Cluster, f planFlags, namespace string, m manifest) (*planned, error) {
	t, err := m.target(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	a := &application{
		applyFlags: applyFlags{manager: f.manager, dryRun: true, migrationOff: isMigrationOff()},
		cluster:    c, target: t, config: m.doc,
	}
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	p := &planned{target: t, manager: f.manager, creates: !a.exists, before: a.live}
	if p.from, err = a.migrate(ctx); err != nil {
		return nil, err
	}
	p.after, err = a.apply(ctx)
	if p.conflicts = a.conflicts(err); len(p.conflicts) > 0 {
		a.force = true // what else would happen is what happens if it is forced
		p.after, err = a.apply(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	p.plan, err = ownership.Compare(p.before, p.after, topologyOrNil(ctx, c, t.kind), ownership.Selector{Manager: f.manager, Operation: apply.Apply})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return p, nil
}

func (p *planned) print(w io.Writer, now time.Time) {
	what := "changes"
	switch {
	case p.creates:
		what = "is created"
	case p.plan.IsEmpty():
		what = "stays as it is"
	case len(p.conflicts) > 0:
		what = fmt.Sprintf("%d %s; if forced it changes", len(p.conflicts), plural(len(p.conflicts), "conflict", "conflicts"))
	case p.plan.Changes.IsEmpty():
		what = "changes owners only"
	}
	if len(p.from) > 0 {
		what += ", and takes over from " + strings.Join(p.from, ", ")
	}
	fmt.Fprintf(w, "%s: %s\n", p.target, what)
	for _, c := range p.conflicts {
		var owners []string
		for _, e := range c.owners {
			owners = append(owners, since(e, now))
		}
		fmt.Fprintf(w, "  conflict %s: owned by %s; it is %s, you want %s\n", c.shown(), strings.Join(owners, " and "), shownValue(c.live), shownValue(c.wanted))
	}
	p.printValues(w)
	p.printOwners(w)
}

func (p *planned) printValues(w io.Writer) {
	for path := range topmost(p.plan.Changes.Added).All() {
		fmt.Fprintf(w, "  + %s: %s\n", shownPath(path), shownValue(ownership.ValueAt(p.after.Document, path)))
	}
	for path := range p.plan.Changes.Modified.All() {
		was, will := ownership.ValueAt(p.before.Document, path), ownership.ValueAt(p.after.Document, path)
		fmt.Fprintf(w, "  ~ %s: %s -> %s\n", shownPath(path), shownValue(was), shownValue(will))
	}
	for path := range topmost(p.plan.Changes.Removed).All() {
		fmt.Fprintf(w, "  - %s: %s\n", shownPath(path), shownValue(ownership.ValueAt(p.before.Document, path)))
	}
}

// topmost leaves out what is inside of something else in the set.
func topmost(set fieldset.Set) fieldset.Set {
	var b fieldset.Builder
	return topmostIn(&b, set)
}

func topmostIn(b *fieldset.Builder, set fieldset.Set) fieldset.Set {
	mark := b.Mark()
	for i := range set.Len() {
		if set.Member(i) {
			b.Push(set.Element(i), true, fieldset.Set{})
			continue
		}
		below := topmostIn(b, set.Child(i))
		b.Push(set.Element(i), false, below)
	}
	return b.Set(mark)
}

func (p *planned) printOwners(w io.Writer) {
	for _, part := range []struct {
		word string
		set  fieldset.Set
	}{{"own", p.plan.Gained}, {"share", p.plan.Shared}, {"release", p.plan.Released}} {
		for path := range part.set.Leaves().All() {
			fmt.Fprintf(w, "  %s %s\n", part.word, shownPath(path))
		}
	}
	for _, m := range p.plan.Lost {
		for path := range m.Fields.Leaves().All() {
			fmt.Fprintf(w, "  take %s from %s\n", shownPath(path), who(m.From))
		}
	}
	for _, s := range p.plan.Stays {
		why := "owned by " + whoAll(s.Owners)
		if len(s.Owners) == 0 {
			why = "which the server sets by itself"
		}
		fmt.Fprintf(w, "  stays %s: %s, %s\n", shownPath(s.Path), shownValue(s.Value), why)
	}
}
