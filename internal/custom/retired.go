package custom

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// A definition may lose a version at which objects were written. If nothing but the apiVersion differs between
// versions, who wrote at that one owns the same fields at any other, and their entries are rewritten to the version
// that is stored. If a webhook converts, nobody can tell any more what the fields have become: the next apply retires
// the entries.

// target returns the version that entries at a version are brought to, given what the definition was since they were
// written: their own, unless that is gone; "" if nobody can tell.
func (b *bringer) target(version string, since []former) string {
	if b.now.at(version) != nil {
		return version
	}
	for _, one := range since {
		if !one.isAlike() {
			return ""
		}
	}
	if !b.now.isAlike() {
		return ""
	}
	return b.now.store
}

// retired returns an entry of a version that is gone at the one that a document is at, with what the document has of
// it; ok is false if that is nothing.
func retired(entry apply.Entry, doc document.Value, t *schema.Type) (_ apply.Entry, ok bool, err error) {
	all, err := fieldsOf(doc, t)
	if err != nil {
		return entry, false, err
	}
	fields, err := entry.Fields()
	if err != nil {
		return entry, false, err
	}
	fields = present(fields, all)
	entry.APIVersion, entry.FieldsV1 = doc.Get("apiVersion").Text(), fields.FieldsV1()
	return entry, !fields.IsEmpty(), nil
}

// fieldsOf returns all fields that a document has by a topology, as whoever applied it would own them.
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

// present returns what an object has of a set. All are its fields.
func present(s, all fieldset.Set) fieldset.Set {
	var out fieldset.Builder
	mark := out.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		there, member := all.Below(e)
		switch {
		case !there.IsEmpty():
			out.Push(e, s.Member(i), present(s.Child(i), there))
		case member:
			out.Push(e, true, fieldset.Set{})
		}
	}
	return out.Set(mark)
}

// joined returns entries of which no two are of one manager by one operation at one version: what two of them own one
// does, since the later of their times. Those that can't be read stay as they are.
func joined(entries []apply.Entry) []apply.Entry {
	all := entries[:0:0]
	for _, entry := range entries {
		i := slices.IndexFunc(all, func(e apply.Entry) bool {
			return e.Manager == entry.Manager && e.Operation == entry.Operation && e.Subresource == entry.Subresource && e.APIVersion == entry.APIVersion
		})
		if i < 0 || !join(&all[i], entry) {
			all = append(all, entry)
		}
	}
	return all
}

// join has an entry own what another one does; it reports whether both could be read.
func join(entry *apply.Entry, other apply.Entry) bool {
	mine, err := entry.Fields()
	others, failed := other.Fields()
	if err != nil || failed != nil {
		return false
	}
	entry.FieldsV1 = mine.Union(others).FieldsV1()
	if other.Time.After(entry.Time) {
		entry.Time = other.Time
	}
	return true
}
