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

// A server can be asked what an apply would do, but not what it would do after a migration that is not done. So
// what the server answers is taken, and the engine applies the configuration to it once more, with the owners that
// the migration would leave: what the applier owns then and leaves out goes.
//
//	live    data: {key, legacy}   client-side apply owns both
//	server  data: {key, legacy}   as it answers a dry run: legacy is somebody else's
//	result  data: {key}           legacy would be the applier's own, and it leaves it out
//
// What the server makes of such a result it tells when it is asked to try that as a patch: it gives defaults to what is
// missing, keeps some fields as others, and refuses what is invalid.
//
// It may have no answer before that: an object may be invalid only with what goes, as a Deployment is whose strategy
// becomes Recreate and that still has the numbers of a rolling update. Then the engine applies to the object as it is.

// foresee tells what applying would do after the migration, from what the server says that it would do without.
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
	return answer, refused // also if nothing goes that could have been why
}

// foreseeFrom tells what applying makes of an object with the owners that the migration would leave. There are no conflicts
// but those that may be forced: the server looks for them first.
func (a *applyOperation) simulateApply(ctx context.Context, from apply.Object) (apply.Object, error) {
	version := a.target.kind.APIVersion()
	if i := slices.IndexFunc(a.simulatedEntries, func(e apply.Entry) bool { return e.APIVersion != version }); i >= 0 {
		return from, fmt.Errorf("a dry run can't tell what applying removes after the migration, as %s owns fields at %s; migrate first",
			entryName(a.simulatedEntries[i]), a.simulatedEntries[i].APIVersion)
	}
	t, err := a.cluster.Topology(ctx, a.target.kind)
	if err != nil {
		return from, fmt.Errorf("a dry run can't tell what applying removes after the migration; migrate first: %w", err)
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(version, t), Unset: true})
	if err != nil {
		return from, err
	}
	result, err := engine.Apply(from, a.config, apply.Request{Manager: a.manager, Version: version, Time: time.Now(), Force: true})
	if err != nil {
		return result.Object, err
	}
	patch := diffPatch(a.live.Document, result.Object.Document)
	if patch.Len() == 0 {
		return result.Object, nil
	}
	made, err := a.cluster.DryRunPatch(ctx, a.target.kind, a.target.namespace, a.target.name, a.manager, patch.AppendJSON(nil))
	return apply.Object{Document: made.Document, Entries: result.Object.Entries}, err
}

// patchTo is a JSON patch that has an object become another: its fields, and those of its metadata that clients write, are
// replaced one by one. Who may apply may patch, but need not be allowed to replace the object as a whole.
func diffPatch(from, to document.Value) document.Value {
	changes := appendOperations(nil, "/", from.Without("metadata"), to.Without("metadata"))
	changes = appendOperations(changes, "/metadata/", from.Get("metadata"), to.Get("metadata"))
	return document.NewList(changes...)
}

// pointerEscapes are how names are written in a JSON pointer.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// appendChanges appends the changes of the fields of a map that is there, at a path.
func appendOperations(changes []document.Value, path string, from, to document.Value) []document.Value {
	change := func(op, name string, value document.Value) {
		changes = append(changes, document.NewMap(
			document.Field{Name: "op", Value: document.NewString(op)},
			document.Field{Name: "path", Value: document.NewString(path + pointerEscapes.Replace(name))},
			document.Field{Name: "value", Value: value},
		))
	}
	for name, value := range to.Fields() {
		if !document.Equal(from.Get(name), value) {
			change("add", name, value)
		}
	}
	for name := range from.Fields() {
		if to.Get(name).IsAbsent() {
			change("remove", name, document.Value{})
		}
	}
	return changes
}

// foreseenAfter are the entries that the migration would leave, of which those that it does not touch have lost what the
// server has forced.
func (a *applyOperation) simulatedEntriesAfter(answer apply.Object) []apply.Entry {
	var all []apply.Entry
	for _, e := range a.simulatedEntries {
		if !slices.Contains(a.live.Entries, e) || e.Manager == a.manager && e.Operation == apply.Apply {
			all = append(all, e)
			continue
		}
		i := slices.IndexFunc(answer.Entries, func(other apply.Entry) bool { return isSameEntry(e, other) })
		if i >= 0 {
			all = append(all, answer.Entries[i])
		}
	}
	return all
}

// sameEntry reports whether two entries are the same one at different times.
func isSameEntry(a, b apply.Entry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.APIVersion == b.APIVersion && a.Subresource == b.Subresource
}

// tracked is the object that an apply was refused for, if that is because of conflicts. What nobody owns gets an owner
// as it is applied to, which the object does not show: it is who the conflicts are with.
func (a *applyOperation) tracked(ctx context.Context, refused error) apply.Object {
	if !a.exists || !isUntracked(a.live) || !isApplyConflict(refused) {
		return a.live
	}
	live, err := a.target.tracked(ctx, a.cluster, a.live)
	if err != nil {
		return a.live
	}
	for i := range live.Entries {
		live.Entries[i].Time = time.Time{} // since when is what nobody knows
	}
	return live
}

// inTheWay leaves out the conflicts with those whose entries a foreseen migration removes.
func (a *applyOperation) remainingConflicts(all []conflict) []conflict {
	if a.simulatedEntries == nil {
		return all
	}
	var some []conflict
	for _, c := range all {
		known := len(c.owners) > 0
		c.owners = slices.DeleteFunc(c.owners, func(e apply.Entry) bool { return !slices.Contains(a.simulatedEntries, e) })
		if len(c.owners) > 0 || !known {
			some = append(some, c)
		}
	}
	return some
}
