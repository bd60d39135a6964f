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

// The functions of this file do no I/O. They map the field set of a managed fields entry from the topology of one
// generation of a CRD to the topology of another:
//
//	change of the schema                      fields that the entry owns afterwards
//	an atomic list or map becomes granular    each field of the list or map that the object contains now
//	a granular list or map becomes atomic     the list or map as a whole
//	the keys of an associative list change    the same items, identified by their new keys
//	the entry's version is removed            the fields of the entry that the object or the schema has at the storage version
//
// An entry of Server-Side Apply also owns fields that are absent because an unset marker removed them. They are treated like
// other fields. An absence that the new schema cannot express is lost and reported: a field that the storage version does not
// declare, a list item whose former keys do not contain its new keys, or one whose new keys are those of another item of the
// object.

// chain lists the topologies from the schema that a managed fields entry conforms to up to the current schema. It is
// immutable and shared by all entries of the same version and generation.
//
// Invariants: len(topologies) ≥ 2. topologies[0] is the topology of the version c.from at the generation c.generation. The
// last topology is the topology of the version c.to in the current CRD. No two neighbours have the same schema unless c.from
// ≠ c.to. An entry may conform to any of the topologies, because an interrupted migration may have mapped it to one of them.
// Mapping it along the whole chain again has the same result.
type chain struct {
	generation int64
	from, to   string
	topologies []*schema.Type
}

// newChain returns the chain for entries at a version that conform to previous[0]. previous contains generations in ascending
// order. It returns nil if the entries need not or cannot be mapped, because the schema of the version is the same in all
// generations, or because the version was removed and a webhook converted objects to it.
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

// targetVersion returns the version that entries at a version are migrated to: the same version if it still exists, otherwise the
// storage version, provided that the conversion strategy is None in the current and all previous generations. If one of these
// generations has a conversion webhook, targetVersion returns "": the fields of the removed version cannot be mapped to another
// version, and the next apply drops the entry.
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

// topologies returns the topologies of the version oldVersion in the previous generations, followed by the topology of the
// version newVersion in the current CRD. It omits generations without the version, and a topology whose schema equals the
// previous schema.
func topologies(current *crd.Resource, previous []generation, oldVersion, newVersion string) (all []*schema.Type) {
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
		add(g.Resource, oldVersion, false)
	}
	if len(all) > 0 {
		add(current, newVersion, oldVersion != newVersion)
	}
	return all
}

// migrate returns the entry with a field set that conforms to the current schema. doc is the object at version c.to. ok is
// false if the entry owns no field at that version, so that it must be removed. lost are the fields of the entry that the current
// schema cannot express.
func (c *chain) migrate(entry apply.Entry, doc document.Value) (_ apply.Entry, lost fieldset.Set, ok bool, err error) {
	for i, next := range c.topologies[1:] {
		if entry, err = mapEntry(entry, c.topologies[i], next, doc); err != nil {
			return entry, lost, false, err
		}
	}
	now := c.topologies[len(c.topologies)-1]
	mapped, err := entry.Fields()
	if err != nil {
		return entry, lost, false, err
	}
	fields := mapped
	if c.from != c.to {
		existing, err := fieldsOf(doc, now)
		if err != nil {
			return entry, lost, false, err
		}
		fields = restrict(fields, existing, now, entry.Operation == apply.Apply)
		entry.APIVersion = doc.Get("apiVersion").Text()
	}
	fields = withoutOtherKeys(fields, now)
	if lost = mapped.Difference(fields); !lost.IsEmpty() || c.from != c.to {
		entry.FieldsV1 = fields.FieldsV1()
	}
	return entry, lost, !fields.IsEmpty() || c.from == c.to && lost.IsEmpty(), nil
}

// mapEntry returns an entry with its field set mapped from one topology to another. The values in doc determine the fields
// of an expanded atomic list or map, and the keys of list items.
func mapEntry(entry apply.Entry, from, to *schema.Type, doc document.Value) (apply.Entry, error) {
	mapped, err := apply.Reconcile(apply.Object{Document: doc, Entries: []apply.Entry{entry}}, entry.APIVersion, from, to)
	if err != nil {
		return entry, err
	}
	return mapped.Entries[0], nil
}

// fieldsOf returns the field set that a field manager would own after applying the whole document.
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

// restrict returns the paths of s that are in existing or are prefixes of paths in existing. A path inside of an atomic field
// in existing is shortened to the path of the atomic field. With absences, restrict also returns paths that are not in
// existing, but that the topology t declares.
func restrict(s, existing fieldset.Set, t *schema.Type, absences bool) fieldset.Set {
	var out fastset.Builder
	mark := out.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		child := childOf(t, e)
		below, member := existing.Below(e)
		switch {
		case !below.IsEmpty():
			out.Push(e, s.Member(i), restrict(s.Child(i), below, child, absences))
		case member && (!absences || child == nil || isLeaf(child) || s.Child(i).IsEmpty()):
			out.Push(e, true, fieldset.Set{})
		case absences && child != nil && isLeaf(child):
			out.Push(e, true, fieldset.Set{})
		case absences && child != nil:
			out.Push(e, s.Member(i), restrict(s.Child(i), fieldset.Set{}, child, true))
		}
	}
	return out.Set(mark)
}

// childOf returns the type of the field or list item that a path element selects in a value of type t; nil if t declares none.
func childOf(t *schema.Type, e fieldset.Element) *schema.Type {
	switch {
	case t == nil:
	case e.Kind() == fieldset.FieldName && t.Map != nil:
		child, _ := t.Map.TypeOf(e.Name())
		return child
	case e.Kind() == fieldset.Key && t.List != nil && t.List.Relationship == schema.Keyed,
		e.Kind() == fieldset.SetValue && t.List != nil && t.List.Relationship == schema.Set:
		return t.List.Item
	}
	return nil
}

// isLeaf reports whether a value of type t is owned as a whole: a scalar, or an atomic list or map.
func isLeaf(t *schema.Type) bool {
	return (t.Map == nil || t.Map.Atomic) && (t.List == nil || t.List.Relationship == schema.Atomic)
}

// withoutOtherKeys returns a field set without list items whose keys are not the keys of their list in the topology t. The
// object lacks these items; the keys of its items have been mapped.
func withoutOtherKeys(s fieldset.Set, t *schema.Type) fieldset.Set {
	var out fastset.Builder
	mark := out.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		if e.Kind() == fieldset.Key && t != nil && t.List != nil && t.List.Relationship == schema.Keyed && !hasKeys(e, t.List.Keys) {
			continue
		}
		child := childOf(t, e)
		if child == nil {
			out.Push(e, s.Member(i), s.Child(i))
			continue
		}
		out.Push(e, s.Member(i), withoutOtherKeys(s.Child(i), child))
	}
	return out.Set(mark)
}

// hasKeys reports whether a path element contains at least one of the keys of a list, and no other fields. The path element of
// an item does not contain a key that the item lacks and that has no default.
func hasKeys(e fieldset.Element, keys []schema.Key) bool {
	found := false
	for _, field := range e.KeyFields() {
		if !slices.ContainsFunc(keys, func(k schema.Key) bool { return k.Name == field.Name }) {
			return false
		}
		found = true
	}
	return found
}

// mergeEntries merges entries of the same field manager, operation, subresource and apiVersion, which exist if the migration
// changed the apiVersion of an entry. A merged entry owns the union of the fields and has the latest time. Entries whose
// fieldsV1 cannot be parsed are not merged.
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

// mergeInto adds the fields of other to entry. It returns false, and changes nothing, if the fieldsV1 of entry or other cannot
// be parsed.
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
