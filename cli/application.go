package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// application is one object on its way.
type application struct {
	applyFlags
	cluster *cluster.Cluster
	target  target
	config  document.Value
	live    apply.Object
	exists  bool
	// takeOver says that the server migrates in the same step as it applies.
	takeOver bool
	// foreseen are the entries that a migration would leave, if this is a dry run and there would be one.
	foreseen []apply.Entry
}

// applyOne goes as follows: what is there is read; what client-side apply wrote is migrated, together with the next
// step where the server can do that; the configuration is applied; conflicts at the paths that may be forced are forced.
func (f applyFlags) applyOne(ctx context.Context, c *cluster.Cluster, namespace string, m manifest, stdout, stderr io.Writer) error {
	a := &application{applyFlags: f, cluster: c, config: m.doc}
	var err error
	if a.target, err = m.target(ctx, c, namespace); err != nil {
		return err
	}
	for _, p := range f.unsetPaths {
		if a.config, err = p.Unset(a.config); err != nil {
			return fmt.Errorf("%s: --unset: %w", m.source, err)
		}
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	from, err := a.migrate(ctx)
	if err != nil {
		return err
	}
	after, err := a.apply(ctx)
	if conflicts := a.conflicts(err); len(conflicts) > 0 {
		fmt.Fprintf(stderr, "%s: %d %s\n", a.target, len(conflicts), plural(len(conflicts), "conflict", "conflicts"))
		printConflicts(stderr, conflicts, time.Now())
		return fmt.Errorf("%s: not applied", a.target)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.target, err)
	}
	return a.tell(after, from, stdout)
}

// read gets the object as it is, and refuses what --only-create and --only-update exclude.
func (a *application) read(ctx context.Context) error {
	var err error
	a.live, err = a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	a.exists = err == nil
	switch {
	case err != nil && !cluster.IsCode(err, http.StatusNotFound):
		return fmt.Errorf("%s: %w", a.target, err)
	case a.exists && a.onlyCreate:
		return fmt.Errorf("%s: not applied: it is there already, and --only-create was asked for", a.target)
	case !a.exists && a.onlyUpdate:
		return fmt.Errorf("%s: not applied: it is not there, and --only-update was asked for", a.target)
	case a.onlyUpdate:
		a.config = a.asRead("uid") // servers refuse to create an object with a uid
	}
	return nil
}

// migrate hands what client-side apply wrote to the manager, and returns whose it was. A server that can do so
// together with the apply is asked to.
func (a *application) migrate(ctx context.Context) ([]string, error) {
	if !a.exists || a.migrationOff {
		return nil, nil
	}
	move := takeOver(a.manager)
	_, moved, err := a.target.moved(ctx, a.cluster, a.live, move)
	if err != nil {
		return nil, err
	}
	switch {
	case moved.NoOp():
		return nil, nil
	case a.cluster.TakesOver(ctx, a.target.kind):
		a.takeOver, a.live.Entries = true, moved.Entries
		return giversOf(moved.Moves), nil
	case a.dryRun:
		a.foreseen = moved.Entries
		return giversOf(moved.Moves), nil
	}
	run := migrationRun{cluster: a.cluster, to: a.manager, move: move, write: true}
	done, err := run.untilWritten(ctx, found{a.target, a.live})
	if err != nil || done.outcome != migrated {
		return nil, err
	}
	a.live, err = a.target.get(ctx, a.cluster)
	return giversOf(done.moves), err
}

// giversOf names who gave something up.
func giversOf(moves []ownership.Move) []string {
	var names []string
	for _, m := range moves {
		names = append(names, m.From.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// apply applies; if nothing but what may be forced is in the way, it forces, provided that the object has not
// changed since.
func (a *application) apply(ctx context.Context) (apply.Object, error) {
	after, err := a.send(ctx, a.config, a.force)
	if len(conflictsOf(err, a.manager, a.live, a.config)) > 0 {
		may, pathErr := a.mayForce(a.conflicts(err))
		switch {
		case pathErr != nil:
			return after, pathErr
		case may:
			after, err = a.send(ctx, a.asRead("resourceVersion"), true)
		}
	}
	if err != nil || a.foreseen == nil {
		return after, err
	}
	return a.foresee(ctx, after)
}

// conflicts are those that a server refuses to apply for.
func (a *application) conflicts(err error) []conflict {
	return a.inTheWay(conflictsOf(err, a.manager, a.live, a.config))
}

// mayForce reports whether all conflicts are at paths that may be forced.
func (a *application) mayForce(conflicts []conflict) (bool, error) {
	if len(conflicts) > 0 && len(a.forcePaths) == 0 {
		return false, nil
	}
	forced, err := a.forced()
	if err != nil {
		return false, err
	}
	for _, c := range conflicts {
		if c.path == nil || fieldset.New(c.path).Covered(forced).IsEmpty() {
			return false, nil
		}
	}
	return true, nil
}

// forced are the fields that may be forced.
func (a *application) forced() (fieldset.Set, error) {
	paths := make([]fieldset.Path, len(a.forcePaths))
	for i, p := range a.forcePaths {
		var err error
		if paths[i], err = p.In(a.live); err != nil {
			return fieldset.Set{}, fmt.Errorf("--force-path: %w", err)
		}
	}
	return fieldset.New(paths...), nil
}

// asRead says in the configuration that only the object is meant that was read: that of the same uid, or of
// the same resourceVersion.
func (a *application) asRead(name string) document.Value {
	metadata := a.config.Get("metadata").With(name, a.live.Document.Lookup("metadata", name))
	return a.config.With("metadata", metadata)
}

func (a *application) send(ctx context.Context, config document.Value, force bool) (apply.Object, error) {
	options := cluster.ApplyOptions{Manager: a.manager, Force: force, DryRun: a.dryRun, OnlyCreate: a.onlyCreate, TakeOver: a.takeOver}
	return a.cluster.Apply(ctx, a.target.kind, a.target.namespace, a.target.name, config, options)
}

// tell prints what was done.
func (a *application) tell(after apply.Object, from []string, stdout io.Writer) error {
	switch a.output.form {
	case "json", "yaml":
		if a.output.form == "yaml" {
			fmt.Fprintln(stdout, "---")
		}
		return a.output.print(stdout, after.Document)
	case "name":
		_, err := fmt.Fprintln(stdout, a.target)
		return err
	}
	did := "changed"
	switch revision := a.live.Document.Lookup("metadata", "resourceVersion"); {
	case !a.exists:
		did = "created"
	case a.dryRun && len(from) == 0 && a.isSame(after), !a.dryRun && revision.Text() == after.Document.Lookup("metadata", "resourceVersion").Text():
		did = "unchanged"
	}
	if len(from) > 0 {
		did += fmt.Sprintf(", and took over from %s", strings.Join(from, ", "))
	}
	if a.dryRun {
		did += " (dry run)"
	}
	_, err := fmt.Fprintf(stdout, "%s %s\n", a.target, did)
	return err
}

// isSame reports whether an object is as it was read: a dry run has no revision of its own, so that everything counts.
func (a *application) isSame(after apply.Object) bool {
	return document.Equal(a.live.Document, after.Document) &&
		slices.EqualFunc(a.live.Entries, after.Entries, func(x, y apply.Entry) bool {
			x.Time, y.Time = time.Time{}, time.Time{}
			return x == y
		})
}
