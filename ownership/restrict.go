package ownership

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
)

// Fields of one version become fields of another here, without the topologies of either: those count that the object has.
// A map that was owned as a whole may be owned field by field at the other version. If nobody owns any of its fields, it
// comes with all of them; where it still is owned as a whole, servers take a part of it for all of it.

// restrictToObject returns the part of a set of another version that an object has values for.
func restrictToObject(o apply.Object, set fieldset.Set) fieldset.Set {
	var owned fieldset.Set
	for _, e := range o.Entries {
		fields, _ := e.Fields() // all sets have been read once
		owned = owned.Union(fields)
	}
	var b fastset.Builder
	return restrictToValue(&b, o.Document, set, owned)
}

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

// fieldsBelow are the fields of a map, and what is in them.
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
