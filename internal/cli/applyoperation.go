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

// applyOperation is the apply of one object.
type applyOperation struct {
	applyFlags
	cluster *cluster.Cluster
	target  target
	config  document.Value
	live    apply.Object
	exists  bool
	// original is the live object as it was read before any write of this operation.
	original apply.Object
	// takeover is the strategy that moves the fields of client-side apply to the field manager that applies. previousManagers
	// are the field managers that lose these fields.
	takeover         takeoverMode
	previousManagers []string
	// simulatedEntries are the managed fields entries that the pending migration would produce. They are nil if no
	// migration is pending.
	simulatedEntries []apply.Entry
	// ownersRewritten is true while managedFields are migrated on the server and the configuration is not applied yet.
	ownersRewritten bool
}

// applyOne reads the live object, migrates fields from client-side apply (in the same request if the server supports it),
// applies the configuration and forces the conflicts that --force-path covers.
func (f applyFlags) applyOne(ctx context.Context, c *cluster.Cluster, namespace string, m manifest, stdout, stderr io.Writer) error {
	a := &applyOperation{applyFlags: f, cluster: c, config: m.doc}
	f.forced.record(a.config)
	var err error
	if a.target, err = f.appliedDefinitions.target(ctx, c, namespace, m); err != nil {
		return err
	}
	a.config = a.target.withNamespace(a.config)
	if err := a.unset(ctx); err != nil {
		return fmt.Errorf("%s: --unset: %w", m.source, err)
	}
	if err := f.connection.checkNamespace(m, a.target); err != nil {
		return err
	}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	f.forced.record(a.config) // records the unset markers, too
	after, err := a.apply(ctx)
	if a.ownersRewritten {
		fmt.Fprintf(stderr, "%s: managedFields were rewritten, %s owns the fields of %s; the configuration was not applied\n", a.target, a.manager, strings.Join(a.previousManagers, ", "))
	}
	if refused := (*conflictsError)(nil); errors.As(err, &refused) {
		refused.print(stderr, a.target, time.Now())
		return fmt.Errorf("%s: not applied", a.target)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.target, f.appliedDefinitions.explain(a.target, err))
	}
	f.appliedDefinitions.record(after.Document)
	return a.printResult(after, stdout)
}

// prepare reads the live object and selects the strategy that takes over fields from client-side apply. It sends no write.
func (a *applyOperation) prepare(ctx context.Context) error {
	if err := a.checkMarkers(ctx); err != nil {
		return err
	}
	if err := a.read(ctx); err != nil {
		return err
	}
	return a.chooseTakeover(ctx)
}

// unset adds unset markers for the paths of --unset to the configuration.
func (a *applyOperation) unset(ctx context.Context) error {
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

// checkMarkers rejects a configuration with unset markers if the server does not support them, because it would store
// the markers as values.
func (a *applyOperation) checkMarkers(ctx context.Context) error {
	if !ownership.HasUnsetMarker(a.config) {
		return nil
	}
	supported, err := a.cluster.SupportsUnset(ctx, a.target.kind)
	if err != nil {
		return fmt.Errorf("%s: not applied: cannot determine whether the server supports unset markers: %w", a.target, err)
	}
	if !supported {
		return fmt.Errorf("%s: not applied: the OpenAPI of the server does not declare support for unset markers, and the server would store %s: %s as a value; remove --unset and the markers in the file",
			a.target, apply.UnsetMarkerKey, apply.UnsetMarkerValue)
	}
	return nil
}

// read fetches the live object. It fails if --only-create or --only-update excludes the object.
func (a *applyOperation) read(ctx context.Context) error {
	var err error
	a.live, err = a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	a.exists, a.original = err == nil, a.live
	if err == nil || cluster.IsCode(err, http.StatusNotFound) {
		err = a.checkExistence(a.exists)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.target, err)
	}
	return nil
}

// apply migrates fields from client-side apply and applies the configuration.
func (a *applyOperation) apply(ctx context.Context) (apply.Object, error) {
	switch {
	case a.takeover == takeoverBeforeApply && !a.dryRun:
		return a.transferThenApply(ctx)
	case a.takeover == takeoverAfterApply:
		return a.applyThenTransfer(ctx)
	}
	after, err := a.applyWithRetry(ctx, a.dryRun)
	if a.simulatedEntries == nil {
		return after, err
	}
	return a.simulateMigration(ctx, after, err)
}

// applyWithRetry applies the configuration. If --force-path covers all conflicts, it applies again with force. The
// precondition of that second apply is the resourceVersion that was read; if the object has changed since, applyWithRetry
// reads the object and evaluates the conflicts again.
func (a *applyOperation) applyWithRetry(ctx context.Context, dryRun bool) (apply.Object, error) {
	for attempt := 0; ; attempt++ {
		after, err := a.sendFirstAttempt(ctx, dryRun)
		live := a.withConflictOwners(ctx, err)
		maskedLive, configured := a.target.masked(live.Document, a.config)
		conflicts := conflictsOf(err, a.manager, apply.Object{Document: maskedLive, Entries: live.Entries}, configured)
		if len(conflicts) == 0 {
			return after, err
		}
		if unforced := a.forced.unforced(a.live, a.remainingConflicts(conflicts)); len(unforced) > 0 {
			return after, &conflictsError{unforced}
		}
		after, err = a.sendWithPrecondition(ctx, "resourceVersion", true, dryRun)
		if !retryAfterConflict(ctx, err, attempt) {
			return after, err
		}
		if err := a.reload(ctx); err != nil {
			return after, err
		}
	}
}

// sendFirstAttempt sends the first apply request, with the precondition of --only-create or --only-update.
func (a *applyOperation) sendFirstAttempt(ctx context.Context, dryRun bool) (apply.Object, error) {
	switch {
	case a.onlyUpdate:
		return a.sendWithExistenceCheck(ctx, "uid", dryRun)
	case a.onlyCreate:
		return a.sendWithExistenceCheck(ctx, "resourceVersion", dryRun)
	}
	return a.send(ctx, a.config, a.force, dryRun)
}

func (a *applyOperation) send(ctx context.Context, config document.Value, force, dryRun bool) (apply.Object, error) {
	options := cluster.ApplyOptions{Manager: a.manager, Force: force, DryRun: dryRun, TakeOver: a.takeover == takeoverInApply}
	return a.cluster.Apply(ctx, a.target.kind, a.target.namespace, a.target.name, config, options)
}

// printResult prints the result in the output format.
func (a *applyOperation) printResult(after apply.Object, stdout io.Writer) error {
	switch a.output.format {
	case "json", "yaml":
		if a.output.format == "yaml" {
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
	case a.isNoOp(after):
		did = "unchanged"
	}
	if len(a.previousManagers) > 0 {
		did += fmt.Sprintf("; took over fields from %s", strings.Join(a.previousManagers, ", "))
	}
	if a.dryRun {
		did += " (dry run)"
	}
	_, err := fmt.Fprintf(stdout, "%s %s\n", a.target, did)
	return err
}

// isNoOp reports whether the apply changed nothing or, in a dry run, would change nothing.
func (a *applyOperation) isNoOp(after apply.Object) bool {
	if a.dryRun {
		return len(a.previousManagers) == 0 && isSameObject(a.original, after)
	}
	return revision(a.original) == revision(after)
}

func revision(o apply.Object) string { return o.Document.Lookup("metadata", "resourceVersion").Text() }

// isSameObject reports whether a and b are equal except for the timestamps of their managed fields entries. It detects
// no-ops in dry runs, whose results have no resourceVersion of their own to compare.
func isSameObject(a, b apply.Object) bool {
	return document.Equal(a.Document, b.Document) &&
		slices.EqualFunc(a.Entries, b.Entries, func(x, y apply.Entry) bool { return isSameEntry(x, y) && x.FieldsV1 == y.FieldsV1 })
}
