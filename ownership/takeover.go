package ownership

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// LastApplied is the annotation that client-side apply of kubectl keeps its last configuration in.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// LastAppliedKeeper is the manager that kubectl has own the annotation when it starts to apply server-side. Its
// configurations do not have the annotation: without another owner it would be removed, and who goes back to
// client-side apply would miss it.
const LastAppliedKeeper = "kubectl-last-applied"

// An apply may ask a server to take over in the same write, with this parameter in its query and this value, unlike
// Kubernetes. Servers that know of it declare it in their OpenAPI.
const (
	TakeOverParameter   = "takeOver"
	FromClientSideApply = "client-side-apply"
)

// TakeOver migrates an object as kubectl does before it applies server-side: from all that wrote it by
// client-side apply, whatever their names. If the applier is kubectl, for which servers keep the annotation up
// to date, the annotation gets an owner that keeps it.
func TakeOver(o apply.Object, applier string) (Result, error) {
	from, err := ClientSideManagers(o)
	if err != nil {
		return Result{}, err
	}
	return Migrate(o, Migration{From: from, To: applier, KeepLastApplied: applier == Kubectl})
}

// ClientSideManagers are those that wrote an object by client-side apply: the one that kubectl calls so by itself,
// and all that own the annotation by an update, as kubectl may be told to write by another name. So the one that has what
// was there before managers counts with the annotation only: without it nothing shows that anybody has applied that.
func ClientSideManagers(o apply.Object) ([]Selector, error) {
	all := []Selector{{Manager: clientSideApply, Operation: apply.Update}}
	for i, e := range o.Entries {
		owned, err := fieldsOf(o.Entries, i)
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

// keepLastApplied adds the owner of the annotation, unless it does not move, or an applier owns it already and goes on to.
func keepLastApplied(o apply.Object, result Result) (Result, error) {
	if !slices.ContainsFunc(result.Moves, func(m Move) bool { return m.Fields.Has(lastAppliedPath()) }) {
		return result, nil
	}
	owners, err := Owners(o, lastAppliedPath())
	keeps := func(e apply.Entry) bool {
		return e.Operation == apply.Apply && (!result.gives(e) || e.Manager == LastAppliedKeeper) // who takes it from that one means it
	}
	if err != nil || len(owners) == 0 || slices.ContainsFunc(owners, keeps) {
		return result, err
	}
	keeper := apply.Entry{
		Manager: LastAppliedKeeper, Operation: apply.Apply, APIVersion: owners[0].APIVersion, Time: owners[0].Time,
		FieldsV1: fieldset.New(lastAppliedPath()).FieldsV1(),
	}
	result.Keeper = &keeper
	result.Entries = append(result.Entries, keeper)
	apply.SortEntries(result.Entries)
	return result, nil
}

// gives reports whether an entry gives fields up.
func (r Result) gives(e apply.Entry) bool {
	return slices.ContainsFunc(r.Moves, func(m Move) bool { return m.From == e })
}

func lastAppliedPath() fieldset.Path { return fieldset.Names("metadata", "annotations", LastApplied) }
