package ownership

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
)

// Field sets are moved between versions without the schemas of either: a path is kept if the object has a value there. A
// map that is atomic at one version may be granular at the other. If no entry owns a field inside the map, the map is
// replaced by all of its fields; if the map is still atomic, servers reconcile that to ownership of the whole map.

// restrictToObject returns the fields of a set of another version for which the object has values. Maps without owned
// fields are replaced by their fields.
func restrictToObject(o apply.Object, set fieldset.Set) fieldset.Set {
	var owned fieldset.Set
	for _, e := range o.Entries {
		fields, _ := e.Fields() // the caller has decoded all sets without error
		owned = owned.Union(fields)
	}
	var b fastset.Builder
	return restrictToValue(&b, o.Document, set, owned)
}

// restrictToValue is the recursion of restrictToObject.
func restrictToValue(b *fastset.Builder, v document.Value, set, owned fieldset.Set) fieldset.Set {
	mark := b.Mark()
	for i := range set.Len() {
		e := set.Element(i)
		part := childOf(v, e)
		if part.IsAbsent() {
			continue
		}
		ownedBelow, _ := owned.Below(e)
		if set.Member(i) && ownedBelow.IsEmpty() {
			below := fieldsBelow(b, part)
			b.Push(e, below.IsEmpty(), below)
			continue
		}
		below := restrictToValue(b, part, set.Child(i), ownedBelow)
		b.Push(e, set.Member(i), below)
	}
	return b.Set(mark)
}

// fieldsBelow returns the paths of the leaves of a map, the empty set for other values.
func fieldsBelow(b *fastset.Builder, v document.Value) fieldset.Set {
	mark := b.Mark()
	if v.Kind() == document.Map {
		for name, field := range v.Fields() {
			below := fieldsBelow(b, field)
			b.Push(fieldset.NameElement(name), below.IsEmpty(), below)
		}
	}
	return b.Set(mark)
}
