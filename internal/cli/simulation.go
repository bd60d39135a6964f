package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// A server can evaluate an apply in a dry run, but not an apply after a migration that has not been written. The result
// is therefore simulated: the apply engine applies the configuration to the server's dry-run result, with the managed
// fields entries that the migration would produce. Fields that the applier would then own and does not apply are
// removed.
//
// 	live    data: {key, legacy}   owned by client-side apply
// 	server  data: {key, legacy}   dry-run result; legacy is owned by another manager
// 	result  data: {key}           legacy would be owned by the applier, which does not apply it
//
// The simulated result is then sent to the server as a dry-run JSON patch, so that the server defaults and validates it.
//
// The first dry run may fail validation only because of fields that the migration would remove: a Deployment whose
// strategy becomes Recreate still has rollingUpdate. In that case the engine applies to the live object.

// simulateMigration returns the result that the apply would have after the migration. answer and refused are the result and
// the error of a dry run of the apply without the migration.
func (a *applyOperation) simulateMigration(ctx context.Context, answer apply.Object, refused error) (apply.Object, error) {
	switch {
	case refused == nil:
		return a.simulateApply(ctx, apply.Object{Document: answer.Document, Entries: a.simulatedEntriesAfter(answer)})
	case cluster.IsCode(refused, http.StatusUnprocessableEntity):
		after, err := a.simulateApply(ctx, apply.Object{Document: a.withLastApplied(a.live.Document), Entries: a.simulatedEntries})
		if err != nil || diffPatch(a.live.Document, after.Document).Len() > 0 {
			return after, err
		}
	}
	return answer, refused // the fields that the migration removes, if any, did not cause the error
}

// simulateApply applies the configuration to base with the apply engine, and validates the result with a dry-run patch. It
// forces conflicts, because applyWithRetry has already rejected those that must not be forced.
func (a *applyOperation) simulateApply(ctx context.Context, base apply.Object) (apply.Object, error) {
	version := a.target.kind.APIVersion()
	if i := slices.IndexFunc(a.simulatedEntries, func(e apply.Entry) bool { return e.APIVersion != version }); i >= 0 {
		return base, fmt.Errorf("a dry run cannot compute the fields that an apply removes after the migration, because %s owns fields at %s; migrate first",
			entryName(a.simulatedEntries[i]), a.simulatedEntries[i].APIVersion)
	}
	t, err := a.cluster.Topology(ctx, a.target.kind)
	if err != nil {
		return base, fmt.Errorf("a dry run cannot compute the fields that an apply removes after the migration; migrate first: %w", err)
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(version, t), Unset: true})
	if err != nil {
		return base, err
	}
	result, err := engine.Apply(base, a.config, apply.Request{Manager: a.manager, Version: version, Time: time.Now(), Force: true})
	if err != nil {
		return result.Object, err
	}
	patch := diffPatch(a.live.Document, result.Object.Document)
	if patch.Len() == 0 {
		return result.Object, nil
	}
	patched, err := a.cluster.DryRunPatch(ctx, a.target.kind, a.target.namespace, a.target.name, a.manager, patch.AppendJSON(nil))
	return apply.Object{Document: patched.Document, Entries: result.Object.Entries}, err
}

// diffPatch returns the JSON patch that turns oldDoc into newDoc, with one operation per changed top-level or metadata
// field. A patch is sent instead of an update, because users who may apply have the verb patch, but not necessarily update.
func diffPatch(oldDoc, newDoc document.Value) document.Value {
	changes := appendOperations(nil, "/", oldDoc.Without("metadata"), newDoc.Without("metadata"))
	changes = appendOperations(changes, "/metadata/", oldDoc.Get("metadata"), newDoc.Get("metadata"))
	return document.NewList(changes...)
}

// pointerEscapes escapes field names for JSON pointers.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// appendOperations appends to changes the operations that turn oldMap into newMap, and returns changes. path is the JSON
// pointer of the map in the object, followed by a slash; the map must exist.
func appendOperations(changes []document.Value, path string, oldMap, newMap document.Value) []document.Value {
	change := func(op, name string, value document.Value) {
		changes = append(changes, document.NewMap(
			document.Field{Name: "op", Value: document.NewString(op)},
			document.Field{Name: "path", Value: document.NewString(path + pointerEscapes.Replace(name))},
			document.Field{Name: "value", Value: value},
		))
	}
	for name, value := range newMap.Fields() {
		if !document.Equal(oldMap.Get(name), value) {
			change("add", name, value)
		}
	}
	for name := range oldMap.Fields() {
		if newMap.Get(name).IsAbsent() {
			change("remove", name, document.Value{})
		}
	}
	return changes
}

// simulatedEntriesAfter returns the managed fields entries that the migration would produce. Entries that the migration does
// not change are taken from the dry-run result, in which forced fields have been removed.
func (a *applyOperation) simulatedEntriesAfter(answer apply.Object) []apply.Entry {
	var entries []apply.Entry
	for _, e := range a.simulatedEntries {
		if !slices.Contains(a.live.Entries, e) || e.Manager == a.manager && e.Operation == apply.Apply {
			entries = append(entries, e)
			continue
		}
		i := slices.IndexFunc(answer.Entries, func(other apply.Entry) bool { return isSameEntry(e, other) })
		if i >= 0 {
			entries = append(entries, answer.Entries[i])
		}
	}
	return entries
}

// isSameEntry reports whether a and b have equal identities: manager, operation, API version and subresource.
func isSameEntry(a, b apply.Entry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.APIVersion == b.APIVersion && a.Subresource == b.Subresource
}

// withConflictOwners returns the live object with the managed fields entries that conflicts refer to. For an object without
// managedFields, servers report conflicts with before-first-apply, an entry that the stored object does not contain.
func (a *applyOperation) withConflictOwners(ctx context.Context, refused error) apply.Object {
	if !a.exists || !isUntracked(a.live) || !isApplyConflict(refused) {
		return a.live
	}
	live, err := a.target.withInitialEntry(ctx, a.cluster, a.live)
	if err != nil {
		return a.live
	}
	for i := range live.Entries {
		live.Entries[i].Time = time.Time{} // the time at which the fields were written is unknown
	}
	return live
}

// remainingConflicts returns conflicts without the field managers whose entries the pending migration would remove. It drops
// a conflict that is left without a field manager.
func (a *applyOperation) remainingConflicts(conflicts []conflict) []conflict {
	if a.simulatedEntries == nil {
		return conflicts
	}
	var remaining []conflict
	for _, c := range conflicts {
		hadOwners := len(c.owners) > 0
		c.owners = slices.DeleteFunc(c.owners, func(e apply.Entry) bool { return !slices.Contains(a.simulatedEntries, e) })
		if len(c.owners) > 0 || !hadOwners {
			remaining = append(remaining, c)
		}
	}
	return remaining
}
