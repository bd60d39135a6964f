package apply

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// validator checks that a configuration fits its topology: every field declared,
// every value of the right shape, every item of a granular list with a key of its
// own. It collects all problems, up to a limit.
type validator struct {
	path     fieldset.Path
	problems []FieldError
}

// mostProblems bounds what a hopeless configuration can make an error cost.
const mostProblems = 20

// validate checks a configuration. With unset on, markers may stand in the place of
// anything; splitMarkers checks them. With unset off they are ordinary data.
func validate(t *schema.Type, config document.Value, unset bool) error {
	w := validator{path: make(fieldset.Path, 0, 16)}
	w.value(t, config, unset)
	if len(w.problems) > 0 {
		return &InvalidError{Fields: w.problems}
	}
	return nil
}

func (w *validator) problem(format string, args ...any) {
	if len(w.problems) < mostProblems {
		w.problems = append(w.problems, FieldError{Path: slices.Clone(w.path), Problem: fmt.Sprintf(format, args...)})
	}
}

func (w *validator) value(t *schema.Type, v document.Value, unset bool) {
	if v.IsNull() || v.IsAbsent() {
		return
	}
	if unset && isMarked(v) {
		return
	}
	switch t.Resolve(v.Kind()) {
	case schema.MapAlternative:
		w.fields(t.Map, v, unset)
	case schema.ListAlternative:
		w.items(t.List, v, unset)
	case schema.ScalarAlternative:
		w.scalar(t, v)
	default:
		w.problem("expected nothing, as the schema allows no value here; received %s", describe(v))
	}
}

func (w *validator) scalar(t *schema.Type, v document.Value) {
	fits := false
	switch t.Scalar {
	case schema.Numeric:
		fits = v.Kind() == document.Number
	case schema.String:
		fits = v.Kind() == document.String
	case schema.Boolean:
		fits = v.Kind() == document.Bool
	case schema.AnyScalar:
		fits = v.IsScalar()
	}
	if !fits {
		w.problem("expected %s, received %s", scalarNames[t.Scalar], describe(v))
	}
}

var scalarNames = map[schema.Scalar]string{
	schema.Numeric:   "a number",
	schema.String:    "a string",
	schema.Boolean:   "a boolean",
	schema.AnyScalar: "a string, number or boolean",
}

func (w *validator) fields(m *schema.Map, v document.Value, unset bool) {
	if v.Kind() != document.Map {
		w.problem("expected a map, received %s", describe(v))
		return
	}
	at := len(w.path)
	for i := range v.Len() {
		w.path = append(w.path, fieldset.NameElement(v.Name(i)))
		if t, _ := m.TypeOf(v.Name(i)); t != nil {
			w.value(t, v.At(i), unset)
		} else {
			w.problem("the field is not declared in the schema; received %s", describe(v.At(i)))
		}
		w.path = w.path[:at]
	}
}

func (w *validator) items(l *schema.List, v document.Value, unset bool) {
	if v.Kind() != document.List {
		w.problem("expected a list, received %s", describe(v))
		return
	}
	at := len(w.path)
	var items []fieldset.Element
	if l.Relationship != schema.Atomic {
		if items = w.granularItems(l, v); items == nil {
			return
		}
	}
	for i := range v.Len() {
		e := fieldset.IndexElement(i)
		if items != nil {
			e = items[i]
		}
		w.path = append(w.path, e)
		w.value(l.Item, v.At(i), unset)
		w.path = w.path[:at]
	}
}

// granularItems returns the elements of a list in which every item must have one,
// and one of its own; nil if that is not so, or there are no items.
func (w *validator) granularItems(l *schema.List, v document.Value) []fieldset.Element {
	items, bad := elements(l, v)
	if bad != nil {
		w.path = append(w.path, fieldset.IndexElement(bad.index))
		w.problem("%s", bad.problem)
		w.path = w.path[:len(w.path)-1]
		return nil
	}
	found := newIndex(items)
	ok := true
	for i, e := range items {
		if first := found.find(e); first != i {
			w.path = append(w.path, e)
			w.problem("expected every item once, received it at index %d, %s, and at index %d, %s; remove one of them",
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
