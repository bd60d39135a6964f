package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
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
	// found is the object before anything was done.
	found apply.Object
	// how says how the applier gets what client-side apply wrote, and from says from whom.
	how  takingOver
	from []string
	// foreseen are the entries that a migration would leave, as long as there would be one that is not done.
	foreseen []apply.Entry
	// rewritten says that the owners are other ones than before, and nothing is applied.
	rewritten bool
}

// applyOne goes as follows: what is there is read; what client-side apply wrote is migrated, together with the next
// step where the server can do that; the configuration is applied; conflicts at the paths that may be forced are forced.
func (f applyFlags) applyOne(ctx context.Context, c *cluster.Cluster, namespace string, m manifest, stdout, stderr io.Writer) error {
	a := &application{applyFlags: f, cluster: c, config: m.doc}
	f.forced.note(a.config)
	var err error
	if a.target, err = f.definitions.target(ctx, c, namespace, m); err != nil {
		return err
	}
	a.config = a.target.placed(a.config)
	if err := a.unset(ctx); err != nil {
		return fmt.Errorf("%s: --unset: %w", m.source, err)
	}
	if err := f.connection.checkNamespace(m, a.target); err != nil {
		return err
	}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	f.forced.note(a.config) // with markers
	after, err := a.apply(ctx)
	if a.rewritten {
		fmt.Fprintf(stderr, "%s: %s owns what %s owned; that has been written, whatever became of the rest\n", a.target, a.manager, strings.Join(a.from, ", "))
	}
	if refused := (*conflictsError)(nil); errors.As(err, &refused) {
		refused.print(stderr, a.target, time.Now())
		return fmt.Errorf("%s: not applied", a.target)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.target, f.definitions.explained(a.target, err))
	}
	f.definitions.note(after.Document)
	return a.tell(after, stdout)
}

// prepare finds out what is there, and refuses what can't be done, before anything is done.
func (a *application) prepare(ctx context.Context) error {
	if err := a.checkMarkers(ctx); err != nil {
		return err
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	return a.chooseTakingOver(ctx)
}

// unset puts markers into the configuration.
func (a *application) unset(ctx context.Context) error {
	if len(a.unsetPaths) == 0 {
		return nil
	}
	topology, err := topologyOrNil(ctx, a.cluster, a.target.kind)
	if err != nil {
		return err
	}
	for _, p := range a.unsetPaths {
		if err := p.CheckKeys(topology); err != nil {
			return err
		}
		if a.config, err = p.Unset(a.config); err != nil {
			return err
		}
	}
	return nil
}

// checkMarkers refuses unset markers where the server does not understand them: it would write them as values.
func (a *application) checkMarkers(ctx context.Context) error {
	if !ownership.HasUnsetMarker(a.config) {
		return nil
	}
	understood, err := a.cluster.Unsets(ctx, a.target.kind)
	if err != nil {
		return fmt.Errorf("%s: not applied: whether the server understands unset markers can't be told: %w", a.target, err)
	}
	if !understood {
		return fmt.Errorf("%s: not applied: the server does not say in its OpenAPI that it understands unset markers, and would write %s: %s as a value; leave out --unset, and the markers in the file",
			a.target, apply.UnsetMarkerKey, apply.UnsetMarkerValue)
	}
	return nil
}

// read gets the object as it is, and refuses what --only-create and --only-update exclude.
func (a *application) read(ctx context.Context) error {
	var err error
	a.live, err = a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	a.exists, a.found = err == nil, a.live
	if err == nil || cluster.IsCode(err, http.StatusNotFound) {
		err = a.excluded(a.exists)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.target, err)
	}
	return nil
}

// apply applies, and takes over.
func (a *application) apply(ctx context.Context) (apply.Object, error) {
	switch {
	case a.how == before && !a.dryRun:
		return a.handOverAndApply(ctx)
	case a.how == afterwards:
		return a.applyAndHandOver(ctx)
	}
	after, err := a.attempt(ctx, a.dryRun)
	if a.foreseen == nil {
		return after, err
	}
	return a.foresee(ctx, after, err)
}

// attempt applies; if nothing but what may be forced is in the way, it forces, provided that the object has not
// changed since. If it has, what is in the way is looked at again.
func (a *application) attempt(ctx context.Context, dryRun bool) (apply.Object, error) {
	for race := 0; ; race++ {
		after, err := a.sendFirst(ctx, dryRun)
		live := a.tracked(ctx, err)
		shown, wanted := a.target.masked(live.Document, a.config)
		all := conflictsOf(err, a.manager, apply.Object{Document: shown, Entries: live.Entries}, wanted)
		if len(all) == 0 {
			return after, err
		}
		if left := a.forced.left(a.live, a.inTheWay(all)); len(left) > 0 {
			return after, &conflictsError{left}
		}
		after, err = a.sendAsRead(ctx, "resourceVersion", true, dryRun)
		if !again(ctx, err, race) {
			return after, err
		}
		if err := a.readAgain(ctx); err != nil {
			return after, err
		}
	}
}

// sendFirst applies, before anything is known about conflicts.
func (a *application) sendFirst(ctx context.Context, dryRun bool) (apply.Object, error) {
	switch {
	case a.onlyUpdate:
		return a.sendOrExclude(ctx, "uid", dryRun)
	case a.onlyCreate:
		return a.sendOrExclude(ctx, "resourceVersion", dryRun)
	}
	return a.send(ctx, a.config, a.force, dryRun)
}

func (a *application) send(ctx context.Context, config document.Value, force, dryRun bool) (apply.Object, error) {
	options := cluster.ApplyOptions{Manager: a.manager, Force: force, DryRun: dryRun, TakeOver: a.how == atOnce}
	return a.cluster.Apply(ctx, a.target.kind, a.target.namespace, a.target.name, config, options)
}

// tell prints what was done.
func (a *application) tell(after apply.Object, stdout io.Writer) error {
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
	switch {
	case !a.exists:
		did = "created"
	case a.isUnchanged(after):
		did = "unchanged"
	}
	if len(a.from) > 0 {
		did += fmt.Sprintf(", and took over from %s", strings.Join(a.from, ", "))
	}
	if a.dryRun {
		did += " (dry run)"
	}
	_, err := fmt.Fprintf(stdout, "%s %s\n", a.target, did)
	return err
}

// isUnchanged reports whether nothing was written, or would be.
func (a *application) isUnchanged(after apply.Object) bool {
	if a.dryRun {
		return len(a.from) == 0 && sameObject(a.found, after)
	}
	return revision(a.found) == revision(after)
}

func revision(o apply.Object) string { return o.Document.Lookup("metadata", "resourceVersion").Text() }

// sameObject reports whether an object is as it was, for dry runs, which have no revision of their own: everything counts
// but when its owners wrote.
func sameObject(a, b apply.Object) bool {
	return document.Equal(a.Document, b.Document) &&
		slices.EqualFunc(a.Entries, b.Entries, func(x, y apply.Entry) bool { return sameEntry(x, y) && x.FieldsV1 == y.FieldsV1 })
}
