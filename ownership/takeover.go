package ownership

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// LastAppliedAnnotation is the annotation in which kubectl's client-side apply stores the configuration that it applied.
const LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// LastAppliedManager is the field manager that kubectl adds as an owner of [LastAppliedAnnotation] when it migrates an object
// to Server-Side Apply. Without it the next apply would prune the annotation, which client-side apply requires.
const LastAppliedManager = "kubectl-last-applied"

// TakeOverParameter is a query parameter of apply requests; with the value FromClientSideApply the server migrates the object
// as [TakeOver] does, in the write of the apply request. Kubernetes does not have it; servers that support it declare it in
// their OpenAPI documents.
const (
	TakeOverParameter   = "takeOver"
	FromClientSideApply = "client-side-apply"
)

// TakeOver migrates an object as kubectl does before its first server-side apply: it moves the fields of all managers
// that used client-side apply, independent of their names. If the applier is kubectl, for which servers update
// [LastAppliedAnnotation], the annotation gets the additional owner [LastAppliedManager].
func TakeOver(o apply.Object, applier string) (Result, error) {
	from, err := ClientSideManagers(o)
	if err != nil {
		return Result{}, err
	}
	return Migrate(o, Migration{From: from, To: applier, KeepLastApplied: applier == KubectlManager})
}

// ClientSideManagers returns the managers that wrote the object by client-side apply: kubectl's default manager, and
// every manager with an Update entry that owns [LastAppliedAnnotation], because the manager's name is an option of
// kubectl.
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

// addLastAppliedEntry adds an entry of LastAppliedManager that owns the last-applied annotation to the result of a migration.
// It returns the result unchanged if no entry released the annotation, or if an Apply entry still owns it.
func addLastAppliedEntry(o apply.Object, result Result) (Result, error) {
	if !slices.ContainsFunc(result.Moves, func(m Move) bool { return m.Fields.Has(lastAppliedPath()) }) {
		return result, nil
	}
	owners, err := Owners(o, lastAppliedPath())
	retains := func(e apply.Entry) bool {
		// If the caller selected LastAppliedManager as a releasing manager, it gets no new entry.
		return e.Operation == apply.Apply && (!result.hasReleased(e) || e.Manager == LastAppliedManager)
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

// hasReleased reports whether e, an entry of the object before the change, released fields.
func (r Result) hasReleased(e apply.Entry) bool {
	return slices.ContainsFunc(r.Moves, func(m Move) bool { return m.From == e })
}

// lastAppliedPath returns the path of LastAppliedAnnotation.
func lastAppliedPath() fieldset.Path {
	return fieldset.Names("metadata", "annotations", LastAppliedAnnotation)
}
