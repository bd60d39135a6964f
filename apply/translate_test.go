package apply

import (
	"slices"
	"strings"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// translate converts a schema of structured-merge-diff to the topology of its type T0.
func translate(s *smd.Schema) *schema.Type {
	tr := translator{s, map[string]*schema.Type{}}
	return tr.ref(smd.TypeRef{NamedType: new("T0")})
}

// translator converts types. done maps the names of types to their translations, so that recursive types are
// translated only once.
type translator struct {
	schema *smd.Schema
	done   map[string]*schema.Type
}

func (tr translator) ref(ref smd.TypeRef) *schema.Type {
	name := ""
	if ref.NamedType != nil {
		switch *ref.NamedType {
		case deducedName:
			return schema.Untyped
		case atomicName:
			return schema.Opaque
		}
		name = *ref.NamedType
		if ref.ElementRelationship != nil {
			name += " " + string(*ref.ElementRelationship)
		}
		if t, ok := tr.done[name]; ok {
			return t
		}
	}
	atom, ok := tr.schema.Resolve(ref)
	if !ok {
		panic("unresolved reference in a random schema")
	}
	t := &schema.Type{Name: name}
	if name != "" {
		tr.done[name] = t
	}
	if atom.Scalar != nil {
		t.Scalar = map[smd.Scalar]schema.Scalar{
			smd.Numeric: schema.Numeric, smd.String: schema.String, smd.Boolean: schema.Boolean, smd.Untyped: schema.AnyScalar,
		}[*atom.Scalar]
	}
	if atom.List != nil {
		t.List = tr.list(atom.List)
	}
	if atom.Map != nil {
		t.Map = tr.mapType(atom.Map)
	}
	return t
}

func (tr translator) list(l *smd.List) *schema.List {
	out := &schema.List{Item: tr.ref(l.ElementType)}
	if l.ElementRelationship != smd.Associative {
		return out
	}
	out.Relationship = schema.Set
	for _, name := range l.Keys {
		out.Relationship = schema.Keyed
		key := schema.Key{Name: name}
		if f, ok := out.Item.Map.Find(name); ok {
			key.Default = f.Default
		}
		out.Keys = append(out.Keys, key)
	}
	return out
}

func (tr translator) mapType(m *smd.Map) *schema.Map {
	out := &schema.Map{Atomic: m.ElementRelationship == smd.Atomic}
	for _, f := range m.Fields {
		field := schema.Field{Name: f.Name, Type: tr.ref(f.Type)}
		if f.Default != nil {
			value, err := document.FromGo(f.Default)
			if err != nil {
				panic(err)
			}
			field.Default = value
		}
		out.Fields = append(out.Fields, field)
	}
	slices.SortFunc(out.Fields, func(a, b schema.Field) int { return strings.Compare(a.Name, b.Name) })
	if m.ElementType.NamedType != nil || m.ElementType.Inlined != (smd.Atom{}) {
		out.Element = tr.ref(m.ElementType)
	}
	return out
}
