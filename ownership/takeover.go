package ownership

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// LastAppliedAnnotation is the annotation in which kubectl's client-side apply keeps its last configuration.
const LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// LastAppliedManager is the field manager that kubectl makes the owner of [LastAppliedAnnotation] when it migrates to
// Server-Side Apply. Without another owner the annotation would be removed with the next apply, and returning to
// client-side apply would miss it.
const LastAppliedManager = "kubectl-last-applied"

// An apply may ask a server to take over in the same write, with this parameter in its query and this value, unlike
// Kubernetes. Servers that know of it declare it in their OpenAPI.
const (
	TakeOverParameter   = "takeOver"
	FromClientSideApply = "client-side-apply"
)

// TakeOver migrates an object as kubectl does before its first server-side apply: from all managers that wrote it by
// client-side apply, whatever their names. If the applier is kubectl, for which servers maintain
// [LastAppliedAnnotation], the annotation gets an owner that preserves it.
func TakeOver(o apply.Object, applier string) (Result, error) {
	from, err := ClientSideManagers(o)
	if err != nil {
		return Result{}, err
	}
	return Migrate(o, Migration{From: from, To: applier, KeepLastApplied: applier == KubectlManager})
}

// ClientSideManagers returns the managers that wrote an object by client-side apply: kubectl's default manager, and
// every manager that owns [LastAppliedAnnotation] by an update, because kubectl can be told to use another name.
func ClientSideManagers(o apply.Object) ([]Selector, error) {
	all := []Selector{{Manager: clientSideApplyManager, Operation: apply.Update}}
	for i, e := range o.Entries {
		owned, err := decodeFields(o.Entries, i)
		if err != nil {
			return nil, err
		}
		s := Selector{Manager: e.Manager, Operation: apply.Update}
		if s.Selects(e) && owned.Has(lastAppliedPath()) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// addLastAppliedEntry adds the owner of the annotation, unless it does not move, or an applier owns it already and goes on to.
func addLastAppliedEntry(o apply.Object, result Result) (Result, error) {
	if !slices.ContainsFunc(result.Moves, func(m Move) bool { return m.Fields.Has(lastAppliedPath()) }) {
		return result, nil
	}
	owners, err := Owners(o, lastAppliedPath())
	retains := func(e apply.Entry) bool {
		return e.Operation == apply.Apply && (!result.hasReleased(e) || e.Manager == LastAppliedManager) // who takes it from that one means it
	}
	if err != nil || len(owners) == 0 || slices.ContainsFunc(owners, retains) {
		return result, err
	}
	entry := apply.Entry{
		Manager: LastAppliedManager, Operation: apply.Apply, APIVersion: owners[0].APIVersion, Time: owners[0].Time,
		FieldsV1: fieldset.New(lastAppliedPath()).FieldsV1(),
	}
	result.LastAppliedEntry = &entry
	result.Entries = append(result.Entries, entry)
	apply.SortEntries(result.Entries)
	return result, nil
}

// hasReleased reports whether an entry gives fields up.
func (r Result) hasReleased(e apply.Entry) bool {
	return slices.ContainsFunc(r.Moves, func(m Move) bool { return m.From == e })
}

func lastAppliedPath() fieldset.Path {
	return fieldset.Names("metadata", "annotations", LastAppliedAnnotation)
}
