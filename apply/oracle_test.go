package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/cadastre/cadastre/document"
)

// oracle runs requests through structured-merge-diff as Kubernetes' field managers do.
type oracle struct {
	schemas map[string]*smd.Schema
	updater *merge.Updater
	convert func(doc document.Value, from, to string) document.Value
}

func newOracle(schemas map[string]*smd.Schema, reset map[string]*fieldpath.Set, convert func(doc document.Value, from, to string) document.Value) *oracle {
	o := &oracle{schemas: schemas, convert: convert}
	ignored := map[fieldpath.APIVersion]fieldpath.Filter{}
	for version, set := range reset {
		ignored[fieldpath.APIVersion(version)] = fieldpath.NewExcludeSetFilter(set)
	}
	o.updater = (&merge.UpdaterBuilder{Converter: o, IgnoreFilter: ignored, ReturnInputOnNoop: true}).BuildUpdater()
	return o
}

var errVersionGone = errors.New("version is gone")

func (o *oracle) IsMissingVersionError(err error) bool { return errors.Is(err, errVersionGone) }

func (o *oracle) Convert(v *typed.TypedValue, to fieldpath.APIVersion) (*typed.TypedValue, error) {
	from := o.versionOf(v)
	if from == string(to) {
		return v, nil
	}
	if _, ok := o.schemas[string(to)]; !ok {
		return v, errVersionGone
	}
	// The converted value is not validated, because during pruning structured-merge-diff has null in place of
	// emptied list items.
	doc := o.convert(fromTyped(v), from, string(to))
	//lint:ignore SA1019 there is no other constructor without validation
	return typed.AsTypedUnvalidated(value.NewValueInterface(doc.ToGo()), o.schemas[string(to)], smd.TypeRef{NamedType: new("T0")}), nil
}

func (o *oracle) versionOf(v *typed.TypedValue) string {
	for version, s := range o.schemas {
		if v.Schema() == s {
			return version
		}
	}
	panic("typed value of an unknown version")
}

func (o *oracle) typed(doc document.Value, version string, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return typed.AsTyped(value.NewValueInterface(doc.ToGo()), o.schemas[version], smd.TypeRef{NamedType: new("T0")}, options...)
}

func fromTyped(v *typed.TypedValue) document.Value {
	doc, err := document.FromGo(v.AsValue().Unstructured())
	if err != nil {
		panic(err)
	}
	return doc
}

// outcome is the result of a request, by an engine or by structured-merge-diff, with owners encoded as text, so that diffOutcomes can
// compare them.
type outcome struct {
	doc       document.Value
	owners    map[string]string // maps entryKey to the version and the encoded field set
	conflicts []string
	err       error
}

// entryKey returns the manager name of an entry for structured-merge-diff, which identifies managers by name only.
func entryKey(e Entry) string {
	version := ""
	if e.Operation == Update {
		version = e.APIVersion
	}
	return fmt.Sprintf("%s/%s/%s/%s", e.Manager, e.Operation, version, e.Subresource)
}

// upstreamManagers converts entries to structured-merge-diff's ManagedFields.
func upstreamManagers(entries []Entry) fieldpath.ManagedFields {
	managers := fieldpath.ManagedFields{}
	for _, e := range entries {
		managers[entryKey(e)] = fieldpath.NewVersionedSet(smdSet(e.FieldsV1), fieldpath.APIVersion(e.APIVersion), e.Operation == Apply)
	}
	return managers
}

// upstreamOutcome converts the result of structured-merge-diff.
func upstreamOutcome(v *typed.TypedValue, managers fieldpath.ManagedFields, err error) outcome {
	var conflicts merge.Conflicts
	if errors.As(err, &conflicts) {
		out := outcome{err: err}
		for _, c := range conflicts {
			out.conflicts = append(out.conflicts, c.Manager+" "+c.Path.String())
		}
		slices.Sort(out.conflicts)
		return out
	}
	if err != nil {
		return outcome{err: err}
	}
	out := outcome{doc: fromTyped(v), owners: map[string]string{}}
	for manager, set := range managers {
		text, err := set.Set().ToJSON()
		if err != nil {
			panic(err)
		}
		out.owners[manager] = string(set.APIVersion()) + " " + string(text)
	}
	return out
}

// apply runs the apply request r on structured-merge-diff.
func (o *oracle) apply(live Object, config document.Value, r Request) outcome {
	liveTyped, err := o.typed(emptyIfAbsent(live.Document), r.Version, typed.AllowDuplicates)
	if err != nil {
		return outcome{err: fmt.Errorf("live: %w", err)}
	}
	configTyped, err := o.typed(config, r.Version)
	if err != nil {
		return outcome{err: fmt.Errorf("config: %w", err)}
	}
	managers := upstreamManagers(live.Entries)
	if len(live.Entries) == 0 && !live.Document.IsAbsent() {
		empty, err := o.typed(document.NewMap(), r.Version)
		if err != nil {
			return outcome{err: err}
		}
		before := Entry{Manager: "before-first-apply", Operation: Update, APIVersion: r.Version}
		if managers, err = o.track(empty, liveTyped, managers, before, r); err != nil {
			return outcome{err: err}
		}
	}
	me := entryKey(Entry{Manager: r.Manager, Operation: Apply, Subresource: r.Subresource})
	v, managers, err := o.updater.Apply(liveTyped, configTyped, fieldpath.APIVersion(r.Version), managers, me, r.Force)
	return upstreamOutcome(v, managers, err)
}

// update runs the update request r on structured-merge-diff.
func (o *oracle) update(live Object, updated document.Value, r Request) outcome {
	liveTyped, err := o.typed(emptyIfAbsent(live.Document), r.Version, typed.AllowDuplicates)
	if err != nil {
		return outcome{err: fmt.Errorf("live: %w", err)}
	}
	updatedTyped, err := o.typed(updated, r.Version, typed.AllowDuplicates)
	if err != nil {
		return outcome{err: fmt.Errorf("updated: %w", err)}
	}
	me := Entry{Manager: r.Manager, Operation: Update, APIVersion: r.Version, Subresource: r.Subresource}
	managers, err := o.track(liveTyped, updatedTyped, upstreamManagers(live.Entries), me, r)
	return upstreamOutcome(updatedTyped, managers, err)
}

// track records an update as Kubernetes does: first in the entry of a temporary manager name, which is then merged into
// the entry of the manager me.
func (o *oracle) track(live, updated *typed.TypedValue, managers fieldpath.ManagedFields, me Entry, r Request) (fieldpath.ManagedFields, error) {
	const self = "current operation"
	_, managers, err := o.updater.Update(live, updated, fieldpath.APIVersion(r.Version), managers, self)
	if err != nil {
		return nil, err
	}
	if got, ok := managers[self]; ok {
		delete(managers, self)
		if previous, ok := managers[entryKey(me)]; ok {
			got = fieldpath.NewVersionedSet(got.Set().Union(previous.Set()), got.APIVersion(), got.Applied())
		}
		managers[entryKey(me)] = got
	}
	return managers, nil
}

// engineOutcome converts the result of an engine.
func engineOutcome(result Result, err error) outcome {
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		out := outcome{err: err}
		for _, c := range conflict.Conflicts {
			for _, owner := range c.Owners {
				out.conflicts = append(out.conflicts, entryKey(owner)+" "+c.Path.String())
			}
		}
		slices.Sort(out.conflicts)
		return out
	}
	if err != nil {
		return outcome{err: err}
	}
	out := outcome{doc: result.Object.Document, owners: map[string]string{}}
	for _, e := range result.Object.Entries {
		out.owners[entryKey(e)] = e.APIVersion + " " + e.FieldsV1
	}
	return out
}

// atV1 returns the outcome with the fields of its document and field sets renamed to those of version v1 of a
// randomKind.
func (o outcome) atV1() outcome {
	owners := map[string]string{}
	for manager, text := range o.owners {
		owners[manager] = namesAtV1(text)
	}
	return outcome{doc: convertFieldNames(o.doc, "v2", "v1"), owners: owners}
}

// namesAtV1 replaces the field names of version v2 in a field set.
func namesAtV1(fieldsV1 string) string { return strings.ReplaceAll(fieldsV1, `v2":`, `":`) }

// withoutKeylessItems applies the function withoutKeylessItems to an outcome.
func (o outcome) withoutKeylessItems(before []Entry) outcome {
	before = slices.Clone(before)
	for i := range before {
		before[i].FieldsV1 = namesAtV1(before[i].FieldsV1)
	}
	var object Object
	for manager, text := range o.owners {
		version, fields, _ := strings.Cut(text, " ")
		object.Entries = append(object.Entries, Entry{Manager: manager, APIVersion: version, FieldsV1: fields})
	}
	object.Document = o.doc
	object = withoutKeylessItems(object, before)
	out := outcome{doc: object.Document, owners: map[string]string{}}
	for _, e := range object.Entries {
		out.owners[e.Manager] = e.APIVersion + " " + e.FieldsV1
	}
	return out
}

// diffOutcomes describes the differences between the engine's and the upstream outcome, "" if there are only deliberate
// ones. before are the managed fields entries before the request.
func diffOutcomes(ours, upstream outcome, before []Entry) string {
	d := diffOutcomesExactly(ours, upstream)
	if d != "" && ours.err == nil && upstream.err == nil && diffOutcomesExactly(ours.atV1().withoutKeylessItems(before), upstream.atV1()) == "" {
		return ""
	}
	return d
}

// diffOutcomesExactly describes all differences between the engine's and the upstream outcome, "" if they are equal.
func diffOutcomesExactly(ours, upstream outcome) string {
	if (ours.err == nil) != (upstream.err == nil) {
		return fmt.Sprintf("error of the engine: %v\nwant the error of structured-merge-diff: %v", ours.err, upstream.err)
	}
	if !slices.Equal(ours.conflicts, upstream.conflicts) {
		return fmt.Sprintf("conflicts of the engine: %q\nwant the conflicts of structured-merge-diff: %q\nerror of the engine: %v\nof structured-merge-diff: %v", ours.conflicts, upstream.conflicts, ours.err, upstream.err)
	}
	if ours.err != nil {
		return ""
	}
	if !equalExceptEmptied(ours.doc, upstream.doc) {
		return fmt.Sprintf("document of the engine: %v\nwant the document of structured-merge-diff: %v", ours.doc, upstream.doc)
	}
	if len(ours.owners) != len(upstream.owners) {
		return fmt.Sprintf("owners of the engine: %v\nwant the owners of structured-merge-diff: %v", ours.owners, upstream.owners)
	}
	for manager, set := range ours.owners {
		if upstream.owners[manager] != set {
			return fmt.Sprintf("%s\nfield set of the engine: %s\nwant the field set of structured-merge-diff: %s", manager, set, upstream.owners[manager])
		}
	}
	return ""
}

// smdSet decodes FieldsV1 with structured-merge-diff.
func smdSet(text string) *fieldpath.Set {
	s := fieldpath.NewSet()
	if err := s.FromJSON(strings.NewReader(text)); err != nil {
		panic(err)
	}
	return s
}
