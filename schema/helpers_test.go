package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// parse parses YAML or JSON to a document, without a size limit.
func parse(t testing.TB, text string) document.Value {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parseJSON(t, converted)
}

func parseJSON(t testing.TB, text []byte) document.Value {
	t.Helper()
	v, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// topology returns a type in a short notation: {name: string, *: untyped} for a map, keyed(a, b=1)[item] for a list,
// ^Name for a recursive reference; the alternatives of a type are separated by |.
func topology(t *schema.Type) string { return writer{}.write(t) }

// writer writes types in the notation of topology; enclosing contains the types that enclose the current type.
type writer struct{ enclosing []*schema.Type }

func (w writer) write(t *schema.Type) string {
	switch {
	case t == nil:
		return "nothing"
	case t == schema.Untyped:
		return "untyped"
	case t == schema.Opaque:
		return "opaque"
	case slices.Contains(w.enclosing, t):
		return "^" + t.Name
	}
	w.enclosing = append(slices.Clip(w.enclosing), t)
	var alternatives []string
	if t.Scalar != schema.NoScalar {
		alternatives = append(alternatives, strings.Replace(scalarName(t.Scalar), "untyped", "scalar", 1))
	}
	if t.List != nil {
		alternatives = append(alternatives, w.list(t.List))
	}
	if t.Map != nil {
		alternatives = append(alternatives, w.fields(t.Map))
	}
	return strings.Join(alternatives, "|")
}

func (w writer) list(l *schema.List) string {
	switch l.Relationship {
	case schema.Atomic:
		return "atomic[" + w.write(l.Item) + "]"
	case schema.Set:
		return "set[" + w.write(l.Item) + "]"
	}
	var keys []string
	for _, k := range l.Keys {
		key := k.Name
		if !k.Default.IsAbsent() {
			key += "=" + k.Default.JSON()
		}
		keys = append(keys, key)
	}
	return "keyed(" + strings.Join(keys, ", ") + ")[" + w.write(l.Item) + "]"
}

func (w writer) fields(m *schema.Map) string {
	var parts []string
	for _, f := range m.Fields {
		part := f.Name + ": " + w.write(f.Type)
		if !f.Default.IsAbsent() {
			part += "=" + f.Default.JSON()
		}
		parts = append(parts, part)
	}
	if m.Element != nil {
		parts = append(parts, "*: "+w.write(m.Element))
	}
	text := "{" + strings.Join(parts, ", ") + "}"
	if m.Atomic {
		text = "atomic" + text
	}
	return text
}

// checkInvariants fails the test if a type, or a type that it refers to, violates the invariants in doc.go.
func checkInvariants(t testing.TB, root *schema.Type) {
	t.Helper()
	seen := map[*schema.Type]bool{}
	pending := []*schema.Type{root}
	for len(pending) > 0 {
		typ := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if seen[typ] {
			continue
		}
		seen[typ] = true
		next, err := checkTypeInvariants(typ)
		if err != nil {
			t.Fatalf("type %q: %v", typ.Name, err)
		}
		pending = append(pending, next...)
	}
}

// checkTypeInvariants returns an error if t violates an invariant. If it does not, next contains the types to which t
// refers.
func checkTypeInvariants(t *schema.Type) (next []*schema.Type, err error) {
	if t == nil {
		return nil, fmt.Errorf("nil type")
	}
	if t.Scalar == schema.NoScalar && t.List == nil && t.Map == nil {
		return nil, fmt.Errorf("the type has no alternative, want scalar, list or map")
	}
	if l := t.List; l != nil {
		if (l.Relationship == schema.Keyed) != (len(l.Keys) > 0) {
			return nil, fmt.Errorf("list with relationship %s has %d keys, want keys only if it is keyed", l.Relationship, len(l.Keys))
		}
		if len(l.Keys) > 0 && (l.Item == nil || l.Item.Map == nil) {
			return nil, fmt.Errorf("keyed list with items that are not maps")
		}
		next = append(next, l.Item)
	}
	if m := t.Map; m != nil {
		for i, f := range m.Fields {
			if i > 0 && m.Fields[i-1].Name >= f.Name {
				return nil, fmt.Errorf("field %q is out of order", f.Name)
			}
			if f.Default.Kind() == document.Null {
				return nil, fmt.Errorf("field %q has the default null", f.Name)
			}
			next = append(next, f.Type)
		}
		if m.Element != nil {
			next = append(next, m.Element)
		}
	}
	return next, nil
}

// wantError fails the test unless the error contains all parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("error = nil, want an error that contains %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error = %v, want it to contain %q", err, part)
		}
	}
}
