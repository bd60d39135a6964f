package ownership

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
)

// Field sets are moved from one API version to another without the schemas of the versions: a path remains in the set if the
// object has a value there. A map that is atomic at one version may be granular at the other. Therefore an owned map is
// replaced by its leaf fields if no entry owns a field inside the map. If the map is atomic at the new version, servers turn
// the ownership of the fields into that of the whole map.

// restrictToObject returns the paths in a field set of another API version at which the object has values. It replaces maps
// inside which no entry owns a field by their leaf fields.
func restrictToObject(o apply.Object, set fieldset.Set) fieldset.Set {
	var owned fieldset.Set
	for _, e := range o.Entries {
		fields, _ := e.Fields() // the error is nil, because the caller has decoded all field sets
		owned = owned.Union(fields)
	}
	var b fastset.Builder
	return restrictToValue(&b, o.Document, set, owned)
}

// restrictToValue implements restrictToObject for v, a value in the object. set is the part of the field set below the path
// of v, and owned is the part of the union of all entries' field sets below that path.
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

// fieldsBelow returns the paths of the leaf fields of a map, and the empty set for other values.
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
