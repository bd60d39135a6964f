package schema_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// comparison compares a Type (loaded) recursively with structured-merge-diff's schema (upstream), the oracle of these
// tests, and reports the differences.
type comparison struct {
	oracle  *smd.Schema
	visited map[visit]bool
	// report is called for each difference, with the path of the type and a description.
	report func(place, difference string)
}

// visit is a pair of types that has been compared. It ends the comparison of recursive types: smd.TypeRef is
// comparable, and a schema contains finitely many of them.
type visit struct {
	loaded   *schema.Type
	upstream smd.TypeRef
}

func newComparison(oracle *smd.Schema, report func(place, difference string)) *comparison {
	return &comparison{oracle, map[visit]bool{}, report}
}

func (c *comparison) types(place string, loaded *schema.Type, upstream smd.TypeRef) {
	if c.visited[visit{loaded, upstream}] {
		return
	}
	c.visited[visit{loaded, upstream}] = true
	atom, ok := c.oracle.Resolve(upstream)
	if !ok || atom == (smd.Atom{}) {
		if loaded != nil {
			c.report(place, "the oracle has no type")
		}
		return
	}
	if loaded == nil {
		c.report(place, "only the oracle has a type")
		return
	}
	if loaded.Name != "" {
		place = loaded.Name // a named type is compared only once, so differences are reported under its name
	}
	if got, want := scalarName(loaded.Scalar), oracleScalar(atom.Scalar); got != want {
		c.report(place, fmt.Sprintf("scalar %q, oracle %q", got, want))
	}
	c.lists(place, loaded.List, atom.List)
	c.maps(place, loaded.Map, atom.Map)
}

func (c *comparison) lists(place string, loaded *schema.List, upstream *smd.List) {
	if (loaded == nil) != (upstream == nil) {
		c.report(place, fmt.Sprintf("list %v, oracle %v", loaded != nil, upstream != nil))
	}
	if loaded == nil || upstream == nil {
		return
	}
	if got, want := listName(loaded), oracleList(upstream); got != want {
		c.report(place, fmt.Sprintf("list %s, oracle %s", got, want))
	} else {
		c.keyDefaults(place, loaded, upstream)
	}
	c.types(place+"[]", loaded.Item, upstream.ElementType)
}

func (c *comparison) keyDefaults(place string, loaded *schema.List, upstream *smd.List) {
	for _, key := range loaded.Keys {
		atom, _ := c.oracle.Resolve(upstream.ElementType)
		if atom.Map == nil {
			c.report(place, "the oracle's items are not maps")
			return
		}
		field, _ := atom.Map.FindField(key.Name)
		c.defaults(place+"["+key.Name+"]", key.Default, field.Default)
	}
}

func (c *comparison) maps(place string, loaded *schema.Map, upstream *smd.Map) {
	if (loaded == nil) != (upstream == nil) {
		c.report(place, fmt.Sprintf("map %v, oracle %v", loaded != nil, upstream != nil))
	}
	if loaded == nil || upstream == nil {
		return
	}
	if got, want := loaded.Atomic, upstream.ElementRelationship == smd.Atomic; got != want {
		c.report(place, fmt.Sprintf("atomic map %v, oracle %v", got, want))
	}
	c.types(place+".*", loaded.Element, upstream.ElementType)
	names := map[string]bool{}
	for _, f := range loaded.Fields {
		names[f.Name] = true
		field, ok := upstream.FindField(f.Name)
		if !ok {
			c.report(place+"."+f.Name, "the oracle has no such field")
			continue
		}
		c.defaults(place+"."+f.Name, f.Default, field.Default)
		c.types(place+"."+f.Name, f.Type, field.Type)
	}
	for _, f := range upstream.Fields {
		if !names[f.Name] {
			c.report(place+"."+f.Name, "only the oracle has this field")
		}
	}
}

func (c *comparison) defaults(place string, loaded document.Value, upstream any) {
	want := document.Value{}
	if upstream != nil {
		text, err := value.ToJSON(value.NewValueInterface(upstream))
		if err == nil {
			want, err = document.ParseJSON(text)
		}
		if err != nil {
			c.report(place, err.Error())
		}
	}
	if loaded.IsAbsent() != want.IsAbsent() || !loaded.IsAbsent() && !document.Equal(loaded, want) {
		c.report(place, fmt.Sprintf("default %v, oracle %v", loaded, want))
	}
}

func oracleScalar(s *smd.Scalar) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

func oracleList(l *smd.List) string {
	switch {
	case l.ElementRelationship == smd.Atomic:
		return "atomic"
	case l.ElementRelationship == smd.Associative && len(l.Keys) == 0:
		return "set"
	case l.ElementRelationship == smd.Associative:
		return "keyed(" + strings.Join(l.Keys, ",") + ")"
	}
	return "unknown relationship " + string(l.ElementRelationship)
}

func listName(l *schema.List) string {
	switch l.Relationship {
	case schema.Atomic:
		return "atomic"
	case schema.Set:
		return "set"
	}
	var keys []string
	for _, k := range l.Keys {
		keys = append(keys, k.Name)
	}
	return "keyed(" + strings.Join(keys, ",") + ")"
}

func scalarName(s schema.Scalar) string {
	return [...]string{
		schema.NoScalar: "", schema.Numeric: "numeric", schema.String: "string",
		schema.Boolean: "boolean", schema.AnyScalar: "untyped",
	}[s]
}

// differences returns the differences between the named types of two schemas; upstream is the expected one.
func differences(loaded *schema.Schema, oracle *smd.Schema) []string {
	var found []string
	c := newComparison(oracle, func(place, difference string) {
		found = append(found, place+": "+difference)
	})
	names := map[string]bool{}
	for _, def := range oracle.Types {
		names[def.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t, ok := loaded.Type(name)
		if !ok && !strings.HasPrefix(name, "__untyped_") {
			c.report(name, "only the oracle has this type")
		}
		if ok {
			c.types(name, t, smd.TypeRef{NamedType: &name})
		}
	}
	return found
}
