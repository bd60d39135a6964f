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

// comparison compares a Type with structured-merge-diff's type recursively and reports the differences.
type comparison struct {
	oracle  *smd.Schema
	visited map[visit]bool
	// report is called with the path and the kind of each difference.
	report func(place, difference string)
}

// visit is a pair of types that has been compared. TypeRef is comparable, and a schema has finitely many of them, so
// that the comparison of recursive types terminates.
type visit struct {
	ours   *schema.Type
	theirs smd.TypeRef
}

func newComparison(oracle *smd.Schema, report func(place, difference string)) *comparison {
	return &comparison{oracle, map[visit]bool{}, report}
}

func (c *comparison) types(place string, ours *schema.Type, theirs smd.TypeRef) {
	if c.visited[visit{ours, theirs}] {
		return
	}
	c.visited[visit{ours, theirs}] = true
	atom, ok := c.oracle.Resolve(theirs)
	if !ok || atom == (smd.Atom{}) {
		if ours != nil {
			c.report(place, "the oracle has no type")
		}
		return
	}
	if ours == nil {
		c.report(place, "only the oracle has a type")
		return
	}
	if ours.Name != "" {
		place = ours.Name // a named type is compared once for all its uses
	}
	if got, want := scalarName(ours.Scalar), oracleScalar(atom.Scalar); got != want {
		c.report(place, fmt.Sprintf("scalar %q, oracle %q", got, want))
	}
	c.lists(place, ours.List, atom.List)
	c.maps(place, ours.Map, atom.Map)
}

func (c *comparison) lists(place string, ours *schema.List, theirs *smd.List) {
	if (ours == nil) != (theirs == nil) {
		c.report(place, fmt.Sprintf("list %v, oracle %v", ours != nil, theirs != nil))
	}
	if ours == nil || theirs == nil {
		return
	}
	if got, want := listName(ours), oracleList(theirs); got != want {
		c.report(place, fmt.Sprintf("list %s, oracle %s", got, want))
	} else {
		c.keyDefaults(place, ours, theirs)
	}
	c.types(place+"[]", ours.Item, theirs.ElementType)
}

func (c *comparison) keyDefaults(place string, ours *schema.List, theirs *smd.List) {
	for _, key := range ours.Keys {
		atom, _ := c.oracle.Resolve(theirs.ElementType)
		if atom.Map == nil {
			c.report(place, "the oracle's items are no maps")
			return
		}
		field, _ := atom.Map.FindField(key.Name)
		c.defaults(place+"["+key.Name+"]", key.Default, field.Default)
	}
}

func (c *comparison) maps(place string, ours *schema.Map, theirs *smd.Map) {
	if (ours == nil) != (theirs == nil) {
		c.report(place, fmt.Sprintf("map %v, oracle %v", ours != nil, theirs != nil))
	}
	if ours == nil || theirs == nil {
		return
	}
	if got, want := ours.Atomic, theirs.ElementRelationship == smd.Atomic; got != want {
		c.report(place, fmt.Sprintf("atomic map %v, oracle %v", got, want))
	}
	c.types(place+".*", ours.Element, theirs.ElementType)
	names := map[string]bool{}
	for _, f := range ours.Fields {
		names[f.Name] = true
		field, ok := theirs.FindField(f.Name)
		if !ok {
			c.report(place+"."+f.Name, "the oracle has no such field")
			continue
		}
		c.defaults(place+"."+f.Name, f.Default, field.Default)
		c.types(place+"."+f.Name, f.Type, field.Type)
	}
	for _, f := range theirs.Fields {
		if !names[f.Name] {
			c.report(place+"."+f.Name, "only the oracle has this field")
		}
	}
}

func (c *comparison) defaults(place string, ours document.Value, theirs any) {
	want := document.Value{}
	if theirs != nil {
		text, err := value.ToJSON(value.NewValueInterface(theirs))
		if err == nil {
			want, err = document.ParseJSON(text)
		}
		if err != nil {
			c.report(place, err.Error())
		}
	}
	if ours.IsAbsent() != want.IsAbsent() || !ours.IsAbsent() && !document.Equal(ours, want) {
		c.report(place, fmt.Sprintf("default %v, oracle %v", ours, want))
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

// differences compares all named types of two schemas.
func differences(ours *schema.Schema, oracle *smd.Schema) []string {
	var found []string
	c := newComparison(oracle, func(place, difference string) {
		found = append(found, place+": "+difference)
	})
	names := map[string]bool{}
	for _, def := range oracle.Types {
		names[def.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t, ok := ours.Type(name)
		if !ok && !strings.HasPrefix(name, "__untyped_") {
			c.report(name, "only the oracle has this type")
		}
		if ok {
			c.types(name, t, smd.TypeRef{NamedType: &name})
		}
	}
	return found
}
