package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Resolve returns the path that the expression selects in an object. List items are found by some of their keys or by
// index, in the document and in the field sets. The field need not exist. Errors are of type [*PathError], or an
// [*apply.EntryError] if a field set can't be decoded.
func (p PathExpression) Resolve(o apply.Object) (fieldset.Path, error) {
	at := resolver{value: o.Document}
	for i := range o.Entries {
		set, err := decodeFields(o.Entries, i)
		if err != nil {
			return nil, err
		}
		at.owned = at.owned.Union(set)
	}
	path := make(fieldset.Path, 0, len(p.steps))
	end := 0
	for _, s := range p.steps {
		e, problem := at.element(s)
		if problem != "" {
			return nil, &PathError{Path: p.text, At: end, Problem: problem}
		}
		path = append(path, e)
		at.value = childOf(at.value, e)
		at.owned, at.isOwned = at.owned.Below(e)
		end = s.end
	}
	return path, nil
}

// resolver is where a written path has led to.
type resolver struct {
	value document.Value
	// owned is what anybody owns below it, and whole says whether anybody owns the spot itself.
	owned   fieldset.Set
	isOwned bool
}

// element returns what a step selects.
func (at resolver) element(s step) (e fieldset.Element, problem string) {
	isList := at.value.Kind() == document.List || len(at.items()) > 0
	switch {
	case s.kind == nameStep && isList:
		return e, fmt.Sprintf("expected one of the list's items%s, received the field %s", at.choices(), s.name)
	case s.kind == nameStep, s.kind == quotedStep && !isList:
		if at.value.IsScalar() {
			return e, fmt.Sprintf("expected the end of the path, as the field is %s; received the field %s", describe(at.value), s.name)
		}
		return fieldset.NameElement(s.name), ""
	case !isList && at.value.IsAbsent():
		return e, "expected a list with items, found nothing there"
	case !isList:
		return e, fmt.Sprintf("expected a list, to select one of its items, found %s", describe(at.value))
	case len(at.items()) == 0 && !at.isOwned:
		return e, "nobody owns the list, nor anything of its items"
	case len(at.items()) == 0:
		return e, "the list is owned as a whole: leave out what comes after it"
	case s.kind == indexStep:
		return at.elementByIndex(s.index)
	case s.kind == quotedStep:
		return at.elementByKeys([]keyExpression{{text: s.name, quoted: true}})
	}
	return at.elementByKeys(s.keys)
}

// items returns the elements of items that anybody owns something of; there are some if the list is owned
// item by item.
func (at resolver) items() []fieldset.Element {
	var items []fieldset.Element
	for i := range at.owned.Len() {
		if e := at.owned.Element(i); e.Kind() == fieldset.Key || e.Kind() == fieldset.SetValue {
			items = append(items, e)
		}
	}
	return items
}

func (at resolver) elementByIndex(i int) (e fieldset.Element, problem string) {
	if i >= at.value.Len() {
		return e, fmt.Sprintf("expected one of %d items, received the number %d; items are counted from 0", at.value.Len(), i)
	}
	if e = itemElements(at.value, at.owned)[i]; e.Kind() == fieldset.Index {
		return e, fmt.Sprintf("nobody owns anything of the item %d: %s", i, describe(at.value.At(i)))
	}
	return e, ""
}

func (at resolver) elementByKeys(keys []keyExpression) (e fieldset.Element, problem string) {
	var found []fieldset.Element
	for _, item := range at.items() {
		if hasKeyExpressions(item, keys) {
			found = append(found, item)
		}
	}
	switch len(found) {
	case 1:
		return found[0], ""
	case 0:
		return e, fmt.Sprintf("expected one of the list's items%s, received %s", at.choices(), showKeys(keys))
	}
	return e, fmt.Sprintf("expected one item, received %s, which is %s; add keys", showKeys(keys), listElements(found))
}

// hasKeyExpressions reports whether an element has all the keys that were written.
func hasKeyExpressions(e fieldset.Element, keys []keyExpression) bool {
	for _, key := range keys {
		if !hasKeyExpression(e, key) {
			return false
		}
	}
	return true
}

func hasKeyExpression(e fieldset.Element, key keyExpression) bool {
	for _, value := range key.values() {
		if e.Kind() == fieldset.SetValue && key.name == "" && document.Equal(e.Value(), value) {
			return true
		}
		for _, field := range e.KeyFields() {
			if field.Name == key.name && document.Equal(field.Value, value) {
				return true
			}
		}
	}
	return false
}

// choices shows some items, for errors.
func (at resolver) choices() string {
	items := at.items()
	if len(items) == 0 {
		return ""
	}
	return " " + listElements(items)
}

// maxChoices is how many items an error shows.
const maxChoices = 5

func listElements(elements []fieldset.Element) string {
	var texts []string
	for i, e := range elements {
		if i == maxChoices {
			texts = append(texts, fmt.Sprintf("and %d more", len(elements)-i))
			break
		}
		texts = append(texts, fieldset.Path{e}.Quoted())
	}
	return strings.Join(texts, ", ")
}

func showKeys(keys []keyExpression) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.name + "=" + key.text
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// describe shows a value in an error.
func describe(v document.Value) string {
	const maxBytes = 60
	text := v.JSON()
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return v.Kind().String() + " " + text
}

// IsIn reports whether a configuration has a value at the path. List items are found by some of their keys; an index
// matches any item.
func (p PathExpression) IsIn(config document.Value) bool { return isIn(config, p.steps) }

func isIn(v document.Value, steps []step) bool {
	if len(steps) == 0 || v.IsAbsent() {
		return !v.IsAbsent()
	}
	s, rest := steps[0], steps[1:]
	if v.Kind() == document.Map {
		return (s.kind == nameStep || s.kind == quotedStep) && isIn(v.Get(s.name), rest)
	}
	for _, item := range v.Items() {
		if s.mayMatch(item) && isIn(item, rest) {
			return true
		}
	}
	return false
}

// mayMatch reports whether a step may mean an item of a list. Keys that an item lacks may have defaults.
func (s step) mayMatch(item document.Value) bool {
	switch s.kind {
	case indexStep:
		return true
	case keysStep:
		present := slices.DeleteFunc(slices.Clone(s.keys), func(k keyExpression) bool { return item.Get(k.name).IsAbsent() })
		return len(present) > 0 && matchesKeys(item, present)
	case quotedStep:
		return document.Equal(item, document.NewString(s.name))
	case valueStep:
		return slices.ContainsFunc(s.keys[0].values(), func(v document.Value) bool { return document.Equal(item, v) })
	}
	return false
}
