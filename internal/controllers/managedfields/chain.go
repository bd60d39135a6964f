package managedfields

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// This file is pure: it maps the field set of a managed fields entry from the topology of one generation of a
// definition to the topology of another.
//
//	change of the schema                      the entry's field set afterwards
//	an atomic list or map becomes granular    each field in it, as the object has them now
//	a granular list or map becomes atomic     the list or map itself
//	the keys of an associative list change    the same items, by their new keys
//	the entry's version is removed            the fields that the object has at the storage version

// chain lists the topologies that lead from the schema that a managed fields entry conforms to, to the current schema.
// It is immutable and shared by all entries of the same version and generation.
//
// Invariants: len(topologies) ≥ 2. topologies[0] is that of version from at generation, the last one is that of
// version to in the current definition, and no two neighbours have the same schema unless from ≠ to. An entry may
// conform to any of them, because a migration that was interrupted may have migrated it part of the way; mapping it
// from the first on is idempotent.
type chain struct {
	generation int64
	from, to   string
	topologies []*schema.Type
}

// newChain returns the chain of entries at a version that conform to the oldest of some previous generations, which
// are in ascending order. It returns nil if such entries do not change: no schema of the version has changed, or the
// version was removed and a webhook defined how it relates to the others.
func newChain(current *crd.Resource, previous []generation, version string) *chain {
	if len(previous) == 0 {
		return nil
	}
	c := &chain{generation: previous[0].Generation, from: version, to: targetVersion(current, previous, version)}
	if c.to == "" {
		return nil
	}
	c.topologies = topologies(current, previous, c.from, c.to)
	if len(c.topologies) < 2 {
		return nil
	}
	return c
}

// targetVersion returns the version that entries at a version are migrated to: their own, unless it was removed; then
// the storage version, provided that conversion was None in all generations since. Otherwise it returns "": which
// fields a conversion webhook made of those of the removed version is unknown, and the next apply drops the entry.
func targetVersion(current *crd.Resource, previous []generation, version string) string {
	if current.Version(version) != nil {
		return version
	}
	byWebhook := func(g generation) bool { return !g.ConversionIsNone() }
	if slices.ContainsFunc(previous, byWebhook) || !current.ConversionIsNone() {
		return ""
	}
	return current.StorageVersion()
}

// topologies returns the topologies of a version in previous generations, then that of the target version in the
// current definition. It leaves out a topology whose schema equals the one before, and generations without the
// version.
func topologies(current *crd.Resource, previous []generation, from, to string) (all []*schema.Type) {
	var last document.Value
	add := func(r *crd.Resource, version string, required bool) {
		v := r.Version(version)
		if v == nil || len(all) > 0 && !required && document.Equal(v.Schema, last) {
			return
		}
		if t, ok := r.Topology(version); ok {
			all, last = append(all, t), v.Schema
		}
	}
	for _, g := range previous {
		add(g.Resource, from, false)
	}
	if len(all) > 0 {
		add(current, to, from != to)
	}
	return all
}

// migrate returns an entry whose field set conforms to the current schema. doc is the object at version to. ok is false
// if the entry owns no field there.
func (c *chain) migrate(entry apply.Entry, doc document.Value) (_ apply.Entry, ok bool, err error) {
	for i, next := range c.topologies[1:] {
		if entry, err = mapEntry(entry, c.topologies[i], next, doc); err != nil {
			return entry, false, err
		}
	}
	if c.from == c.to {
		return entry, true, nil
	}
	return moveToVersion(entry, doc, c.topologies[len(c.topologies)-1])
}

// mapEntry returns an entry with its field set mapped from one topology to another. doc has the values, which atomic
// fields are expanded from and the keys of items are taken from.
func mapEntry(entry apply.Entry, from, to *schema.Type, doc document.Value) (apply.Entry, error) {
	mapped, err := apply.Reconcile(apply.Object{Document: doc, Entries: []apply.Entry{entry}}, entry.APIVersion, from, to)
	if err != nil {
		return entry, err
	}
	return mapped.Entries[0], nil
}

// moveToVersion returns an entry of a removed version at the apiVersion of doc, restricted to the fields that doc has;
// ok is false if there are none.
func moveToVersion(entry apply.Entry, doc document.Value, t *schema.Type) (_ apply.Entry, ok bool, err error) {
	existing, err := fieldsOf(doc, t)
	if err != nil {
		return entry, false, err
	}
	fields, err := entry.Fields()
	if err != nil {
		return entry, false, err
	}
	fields = restrict(fields, existing)
	entry.APIVersion, entry.FieldsV1 = doc.Get("apiVersion").Text(), fields.FieldsV1()
	return entry, !fields.IsEmpty(), nil
}

// fieldsOf returns the field set that a manager would own after applying the whole document.
func fieldsOf(doc document.Value, t *schema.Type) (fieldset.Set, error) {
	version := doc.Get("apiVersion").Text()
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(version, t)})
	if err != nil {
		return fieldset.Set{}, err
	}
	result, err := engine.Apply(apply.Object{}, doc, apply.Request{Manager: "all", Version: version})
	if err != nil || len(result.Object.Entries) != 1 {
		return fieldset.Set{}, err
	}
	return result.Object.Entries[0].Fields()
}

// restrict returns the part of a set that exists. Unlike an intersection it keeps a path if existing has only paths
// below it, and shortens a path to the atomic field that existing has in its place.
func restrict(s, existing fieldset.Set) fieldset.Set {
	var out fastset.Builder
	mark := out.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		below, member := existing.Below(e)
		switch {
		case !below.IsEmpty():
			out.Push(e, s.Member(i), restrict(s.Child(i), below))
		case member:
			out.Push(e, true, fieldset.Set{})
		}
	}
	return out.Set(mark)
}

// mergeEntries merges entries of the same manager, operation, subresource and apiVersion, which moveToVersion may
// have created: the result owns the union of their fields, with the later time. Entries whose fieldsV1 cannot be
// parsed are not merged.
func mergeEntries(entries []apply.Entry) []apply.Entry {
	all := entries[:0:0]
	for _, entry := range entries {
		i := slices.IndexFunc(all, func(e apply.Entry) bool {
			return e.Manager == entry.Manager && e.Operation == entry.Operation && e.Subresource == entry.Subresource && e.APIVersion == entry.APIVersion
		})
		if i < 0 || !mergeInto(&all[i], entry) {
			all = append(all, entry)
		}
	}
	return all
}

// mergeInto adds the fields of another entry to an entry; it reports whether both could be parsed.
func mergeInto(entry *apply.Entry, other apply.Entry) bool {
	fields, err := entry.Fields()
	others, failed := other.Fields()
	if err != nil || failed != nil {
		return false
	}
	entry.FieldsV1 = fields.Union(others).FieldsV1()
	if other.Time.After(entry.Time) {
		entry.Time = other.Time
	}
	return true
}
