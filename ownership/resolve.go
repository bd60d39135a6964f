package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Resolve returns the path that the expression selects in an object. The expression may select list items by some of their
// keys or by index; Resolve looks up the items in the object's document and field sets. The field that the path ends with
// need not exist. Errors are of type [*PathError], or [*apply.EntryError] if a field set cannot be decoded.
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

// resolver is the position in an object after some steps of a path expression have been resolved.
type resolver struct {
	// value is the value at the position, absent if the object has none.
	value document.Value
	// owned is the union of all field sets below the position; isOwned reports whether an entry owns the value itself.
	owned   fieldset.Set
	isOwned bool
}

// element returns the path element that step s selects at the position. problem describes why s selects no path element; it
// is empty on success.
func (r resolver) element(s step) (e fieldset.Element, problem string) {
	isList := r.value.Kind() == document.List || len(r.items()) > 0
	switch {
	case s.kind == nameStep && isList:
		return e, fmt.Sprintf("expected one of the list's items%s, received the field %s", r.choices(), s.name)
	case s.kind == nameStep, s.kind == quotedStep && !isList:
		if r.value.IsScalar() {
			return e, fmt.Sprintf("expected the end of the path, because the field is %s; received the field %s", describe(r.value), s.name)
		}
		return fieldset.NameElement(s.name), ""
	case !isList && r.value.IsAbsent():
		return e, "expected a list with items, received no value"
	case !isList:
		return e, fmt.Sprintf("expected a list, received %s", describe(r.value))
	case len(r.items()) == 0 && !r.isOwned:
		return e, "expected an owned list or item; neither the list nor any of its items has an owner"
	case len(r.items()) == 0:
		return e, "expected the end of the path, because the list is owned as a whole; remove the item"
	case s.kind == indexStep:
		return r.elementByIndex(s.index)
	case s.kind == quotedStep:
		return r.elementByKeys([]keyExpression{{text: s.name, quoted: true}})
	}
	return r.elementByKeys(s.keys)
}

// items returns the path elements of list items that are in the field sets. If the result is not empty, the value is a
// granular list.
func (r resolver) items() []fieldset.Element {
	var items []fieldset.Element
	for i := range r.owned.Len() {
		if e := r.owned.Element(i); e.Kind() == fieldset.Key || e.Kind() == fieldset.SetValue {
			items = append(items, e)
		}
	}
	return items
}

// elementByIndex returns the path element of the i-th item of the list. An entry must own that item.
func (r resolver) elementByIndex(i int) (e fieldset.Element, problem string) {
	if i >= r.value.Len() {
		return e, fmt.Sprintf("expected an index less than %d, received %d", r.value.Len(), i)
	}
	if e = itemElements(r.value, r.owned)[i]; e.Kind() == fieldset.Index {
		return e, fmt.Sprintf("expected an owned item; item %d has no owner: %s", i, describe(r.value.At(i)))
	}
	return e, ""
}

// elementByKeys returns the path element of the owned list item that has the given keys. Exactly one owned item must have
// these keys.
func (r resolver) elementByKeys(keys []keyExpression) (e fieldset.Element, problem string) {
	var found []fieldset.Element
	for _, item := range r.items() {
		if hasKeyExpressions(item, keys) {
			found = append(found, item)
		}
	}
	switch len(found) {
	case 1:
		return found[0], ""
	case 0:
		return e, fmt.Sprintf("expected one of the list's items%s, received %s", r.choices(), showKeys(keys))
	}
	return e, fmt.Sprintf("expected keys of one item, received %s, which matches %s; add keys", showKeys(keys), listElements(found))
}

// hasKeyExpressions reports whether the path element e of a list item has all the given keys, each with one of the values
// that its text may denote.
func hasKeyExpressions(e fieldset.Element, keys []keyExpression) bool {
	for _, key := range keys {
		if !hasKeyExpression(e, key) {
			return false
		}
	}
	return true
}

// hasKeyExpression reports whether the path element e of a list item has the given key, with one of the values that its text
// may denote. A key without a name matches the value of an item of a list of type set.
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

// choices returns a space and the path elements of the first items, for error messages. It returns "" if items returns no
// path elements.
func (r resolver) choices() string {
	items := r.items()
	if len(items) == 0 {
		return ""
	}
	return " " + listElements(items)
}

// maxChoices is the maximum number of list items in an error message.
const maxChoices = 5

// listElements formats path elements for error messages, at most maxChoices of them.
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

// showKeys formats the keys of an expression for error messages, as [key=value,…].
func showKeys(keys []keyExpression) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.name + "=" + key.text
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// describe returns the kind of a value and at most 60 bytes of its JSON, for error messages.
func describe(v document.Value) string {
	const maxBytes = 60
	text := v.JSON()
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return v.Kind().String() + " " + text
}

// IsIn reports whether a configuration has a value at the path of the expression. A list item matches if it has at least one
// of the keys in the expression, and if it has the same values for all keys that are in both. An index matches any item.
func (p PathExpression) IsIn(config document.Value) bool { return hasValueAtSteps(config, p.steps) }

// hasValueAtSteps implements IsIn recursively: it reports whether v has a value at the path that the remaining steps select.
func hasValueAtSteps(v document.Value, steps []step) bool {
	if len(steps) == 0 || v.IsAbsent() {
		return !v.IsAbsent()
	}
	s, rest := steps[0], steps[1:]
	if v.Kind() == document.Map {
		return (s.kind == nameStep || s.kind == quotedStep) && hasValueAtSteps(v.Get(s.name), rest)
	}
	for _, item := range v.Items() {
		if s.mayMatch(item) && hasValueAtSteps(item, rest) {
			return true
		}
	}
	return false
}

// mayMatch reports whether step s may select the list item. It ignores keys that the item does not have, because these may
// be defaulted.
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
