package apply

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// validator checks that a configuration conforms to its topology: every field is declared, every value has an allowed
// kind, every item of a granular list has a unique key. It collects up to maxProblems problems.
type validator struct {
	path     fieldset.Path
	problems []FieldError
}

// maxProblems is the maximum number of problems in an InvalidError.
const maxProblems = 20

// validate returns an InvalidError if a configuration does not conform to its topology. Scalars and atomic values that
// equal their live value are not validated, so values that an older schema accepted may remain. If unset is true, unset
// markers are allowed in place of any value, and splitMarkers validates them. If unset is false, markers are ordinary
// data.
func validate(t *schema.Type, live, config document.Value, unset bool) error {
	w := validator{path: make(fieldset.Path, 0, 16)}
	w.value(t, live, config, unset)
	if len(w.problems) > 0 {
		return &InvalidError{Fields: w.problems}
	}
	return nil
}

// addProblem adds a problem at the current path, unless there are maxProblems already.
func (w *validator) addProblem(format string, args ...any) {
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, FieldError{Path: slices.Clone(w.path), Problem: fmt.Sprintf(format, args...)})
	}
}

// value validates the value v of a configuration; live is the live value at the same path.
func (w *validator) value(t *schema.Type, live, v document.Value, unset bool) {
	if v.IsNull() || v.IsAbsent() || unset && isUnsetMarker(v) {
		return
	}
	if !isGranular(t, v) {
		if document.Equal(live, v) {
			return
		}
		live = document.Value{} // a changed atomic value is validated completely
	}
	switch t.Resolve(v.Kind()) {
	case schema.MapAlternative:
		w.fields(t.Map, live, v, unset)
	case schema.ListAlternative:
		w.items(t.List, live, v, unset)
	case schema.ScalarAlternative:
		if !acceptsScalar(t, v.Kind()) {
			w.addProblem("expected %s, received %s", scalarNames[t.Scalar], describe(v))
		}
	default:
		w.addProblem("expected no value, because the schema allows none here; received %s", describe(v))
	}
}

// isGranular reports whether a value of type t is a granular map or list.
func isGranular(t *schema.Type, v document.Value) bool {
	switch v.Kind() {
	case document.Map:
		return t.Map != nil && !t.Map.Atomic
	case document.List:
		return t.List != nil && t.List.Relationship != schema.Atomic
	}
	return false
}

// acceptsScalar reports whether t allows scalars of the given kind: string, number or boolean.
func acceptsScalar(t *schema.Type, kind document.Kind) bool {
	switch t.Scalar {
	case schema.AnyScalar:
		return isScalar(kind)
	case schema.Numeric:
		return kind == document.Number
	case schema.String:
		return kind == document.String
	case schema.Boolean:
		return kind == document.Bool
	}
	return false
}

func isScalar(kind document.Kind) bool {
	return kind == document.String || kind == document.Number || kind == document.Bool
}

var scalarNames = map[schema.Scalar]string{
	schema.Numeric:   "a number",
	schema.String:    "a string",
	schema.Boolean:   "a boolean",
	schema.AnyScalar: "a string, number or boolean",
}

func (w *validator) fields(m *schema.Map, live, v document.Value, unset bool) {
	if v.Kind() != document.Map {
		w.addProblem("expected a map, received %s", describe(v))
		return
	}
	at := len(w.path)
	for i := range v.Len() {
		name := v.Name(i)
		w.path = append(w.path, fieldset.NameElement(name))
		if t, _ := m.TypeOf(name); t != nil {
			w.value(t, live.Get(name), v.At(i), unset)
		} else {
			w.addProblem("field not declared in schema, received %s; remove it or correct its name", describe(v.At(i)))
		}
		w.path = w.path[:at]
	}
}

func (w *validator) items(l *schema.List, live, v document.Value, unset bool) {
	if v.Kind() != document.List {
		w.addProblem("expected a list, received %s", describe(v))
		return
	}
	at := len(w.path)
	var items []fieldset.Element
	var old func(i int) document.Value
	if l.Relationship == schema.Atomic {
		old = func(int) document.Value { return document.Value{} }
	} else {
		if items = w.uniqueElements(l, v); items == nil {
			return
		}
		m := matchElements(l, asKind(live, document.List), v)
		old = func(i int) document.Value { return m.liveItem(live, i) }
	}
	for i := range v.Len() {
		e := fieldset.IndexElement(i)
		if items != nil {
			e = items[i]
		}
		w.path = append(w.path, e)
		w.value(l.Item, old(i), v.At(i), unset)
		w.path = w.path[:at]
	}
}

// uniqueElements returns the path elements of the items of the granular list v. If an item has no valid path element,
// or if two items have the same path element, it adds a problem and returns nil. It also returns nil for an empty list.
func (w *validator) uniqueElements(l *schema.List, v document.Value) []fieldset.Element {
	items, itemErr := elements(l, v)
	if itemErr != nil {
		w.path = append(w.path, fieldset.IndexElement(itemErr.index))
		w.addProblem("%s", itemErr.problem)
		w.path = w.path[:len(w.path)-1]
		return nil
	}
	found := newElementIndex(items)
	ok := true
	for i, e := range items {
		if first := found.find(e); first != i {
			w.path = append(w.path, e)
			w.addProblem("expected every item once, received it at index %d, %s, and at index %d, %s; remove one of them",
				first, describe(v.At(first)), i, describe(v.At(i)))
			w.path = w.path[:len(w.path)-1]
			ok = false
		}
	}
	if !ok {
		return nil
	}
	return items
}
