package strategic

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// The names of directives. The name of a list directive is followed by / and the name of the field with the list.
const (
	patchDirective  = "$patch"
	retainDirective = "$retainKeys"
	orderDirective  = "$setElementOrder"
	removeDirective = "$deleteFromPrimitiveList"
)

// action is the value of the directive $patch.
type action uint8

const (
	mergeAction action = iota // the default if a map has no $patch directive
	replaceAction
	deleteAction
)

// directives are the parsed directives of one map of a patch.
type directives struct {
	action  action
	retain  retainedNames
	orders  []listDirective // $setElementOrder, sorted by field name
	removes []listDirective // $deleteFromPrimitiveList, sorted by field name
}

// listDirective is a directive for the list in the named field; list is the value of the directive.
type listDirective struct {
	name string
	list document.Value
}

// isDirective reports whether a field name in a patch is the name of a directive.
func isDirective(name string) bool {
	if name == "" || name[0] != '$' {
		return false
	}
	return name == patchDirective || name == retainDirective ||
		strings.HasPrefix(name, orderDirective) || strings.HasPrefix(name, removeDirective)
}

// readAll parses all directives of a map. The fields are sorted by name, so the directives, whose names start with $,
// are adjacent.
func (d *directives) readAll(patch document.Value) error {
	for i := range patch.Len() {
		name := patch.Name(i)
		if name == "" || name[0] < '$' {
			continue
		}
		if name[0] > '$' {
			break
		}
		if err := d.read(name, patch.At(i)); err != nil {
			return prefixField(err, name)
		}
	}
	return d.retain.check(patch)
}

// read parses the directive with the given name; it ignores names that are not names of directives.
func (d *directives) read(name string, value document.Value) (err error) {
	switch {
	case name == patchDirective:
		d.action, err = readAction(value)
	case name == retainDirective:
		d.retain, err = readRetainedNames(value)
	case strings.HasPrefix(name, orderDirective):
		d.orders, err = appendDirective(d.orders, name, orderDirective, value)
	case strings.HasPrefix(name, removeDirective):
		d.removes, err = appendDirective(d.removes, name, removeDirective, value)
	}
	return err
}

// readAction parses the value of $patch.
func readAction(v document.Value) (action, error) {
	if v.Kind() == document.String {
		switch v.Text() {
		case "merge":
			return mergeAction, nil
		case "replace":
			return replaceAction, nil
		case "delete":
			return deleteAction, nil
		}
	}
	return mergeAction, malformed("merge, replace or delete", describe(v), "")
}

// appendDirective appends a list directive. It returns an error if the name of the directive does not end with / and
// the name of a field.
func appendDirective(to []listDirective, name, prefix string, value document.Value) ([]listDirective, error) {
	field, ok := strings.CutPrefix(name, prefix+"/")
	if !ok {
		return to, malformed("the name "+prefix+"/<name of a list>", "the name "+clip(name), "")
	}
	if value.Kind() != document.List {
		return to, malformed("a list", describe(value), "")
	}
	return append(to, listDirective{field, value}), nil
}

// retainedNames is the parsed value of $retainKeys. The zero retainedNames means that the map has no such directive.
type retainedNames struct {
	present bool
	names   []string // sorted field names
}

// readRetainedNames parses the value of $retainKeys. Items that are not strings are ignored.
func readRetainedNames(v document.Value) (retainedNames, error) {
	if v.Kind() != document.List {
		return retainedNames{}, malformed("a list of field names", describe(v), "")
	}
	s := retainedNames{present: true, names: make([]string, 0, v.Len())}
	for _, name := range v.Items() {
		if name.Kind() == document.String {
			s.names = append(s.names, name.Text())
		}
	}
	slices.Sort(s.names)
	return s, nil
}

// retains reports whether $retainKeys lists a field. Without the directive all fields are retained.
func (s *retainedNames) retains(name string) bool {
	if !s.present {
		return true
	}
	_, found := slices.BinarySearch(s.names, name)
	return found
}

// check returns an error if the patch sets a field that $retainKeys does not list.
func (s *retainedNames) check(patch document.Value) error {
	if !s.present {
		return nil
	}
	for name, value := range patch.Fields() {
		if !value.IsNull() && !isDirective(name) && !s.retains(name) {
			err := malformed("a list of all fields that the patch sets", "a list without "+clip(name),
				"add it to the list, or remove it from the patch")
			return prefixField(err, retainDirective)
		}
	}
	return nil
}

// fieldCursor iterates, in the order of names, over the fields that a map of a patch affects: its fields, and fields
// for which it contains only a list directive.
type fieldCursor struct {
	patch   document.Value
	next    int
	orders  []listDirective // $setElementOrder directives that are not consumed yet
	removes []listDirective // $deleteFromPrimitiveList directives that are not consumed yet
}

// fieldPatch is the part of a patch that affects one field: its value, $setElementOrder (order) and
// $deleteFromPrimitiveList (remove). Parts that the patch does not contain are absent.
type fieldPatch struct {
	name                 string
	value, order, remove document.Value
}

// advance sets t to the part of the patch for the next affected field. It returns false at the end of the patch.
func (c *fieldCursor) advance(t *fieldPatch) bool {
	for c.next < c.patch.Len() && isDirective(c.patch.Name(c.next)) {
		c.next++
	}
	if len(c.orders)+len(c.removes) > 0 {
		c.advanceWithDirectives(t)
		return true
	}
	if c.next >= c.patch.Len() {
		return false
	}
	t.name, t.value = c.patch.Field(c.next)
	t.order, t.remove = document.Value{}, document.Value{}
	c.next++
	return true
}

// advanceWithDirectives implements advance while there are list directives that are not consumed yet.
func (c *fieldCursor) advanceWithDirectives(t *fieldPatch) {
	*t = fieldPatch{}
	hasField := c.next < c.patch.Len()
	if hasField {
		t.name, t.value = c.patch.Field(c.next)
	}
	for _, directives := range [...][]listDirective{c.orders, c.removes} {
		if len(directives) > 0 && (!hasField || directives[0].name < t.name) {
			*t = fieldPatch{name: directives[0].name}
			hasField = true
		}
	}
	if !t.value.IsAbsent() {
		c.next++
	}
	t.order, c.orders = popDirective(c.orders, t.name)
	t.remove, c.removes = popDirective(c.removes, t.name)
}

// popDirective removes the first directive from the slice from if it is for the named field. It returns the value of
// that directive, or an absent value if it removed none, and the remaining directives.
func popDirective(from []listDirective, name string) (document.Value, []listDirective) {
	if len(from) == 0 || from[0].name != name {
		return document.Value{}, from
	}
	return from[0].list, from[1:]
}
