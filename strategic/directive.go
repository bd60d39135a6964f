package strategic

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// The names of directives. Those about a list are followed by / and the name of its field.
const (
	patchDirective  = "$patch"
	retainDirective = "$retainKeys"
	orderDirective  = "$setElementOrder"
	removeDirective = "$deleteFromPrimitiveList"
)

// action is what the directive $patch says of the map that it is in.
type action uint8

const (
	mergeAction action = iota // also if there is no directive
	replaceAction
	deleteAction
)

// directives are those of one map of a patch.
type directives struct {
	action  action
	retain  keySet
	orders  []listDirective // by name
	removes []listDirective // by name
}

// listDirective is a directive about the list in the field of that name.
type listDirective struct {
	name string
	list document.Value
}

// isDirective reports whether a field of a patch is not about a field of the object.
func isDirective(name string) bool {
	if name == "" || name[0] != '$' {
		return false
	}
	return name == patchDirective || name == retainDirective ||
		strings.HasPrefix(name, orderDirective) || strings.HasPrefix(name, removeDirective)
}

// readAll reads the directives of a map. They are next to each other, because they all start
// with a dollar sign.
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
			return underField(err, name)
		}
	}
	return d.retain.check(patch)
}

func (d *directives) read(name string, value document.Value) (err error) {
	switch {
	case name == patchDirective:
		d.action, err = readAction(value)
	case name == retainDirective:
		d.retain, err = readKeySet(value)
	case strings.HasPrefix(name, orderDirective):
		d.orders, err = appendDirective(d.orders, name, orderDirective, value)
	case strings.HasPrefix(name, removeDirective):
		d.removes, err = appendDirective(d.removes, name, removeDirective, value)
	}
	return err
}

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

// appendDirective appends a directive whose name ends with the name of a list.
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

// keySet is what $retainKeys lists; the zero keySet means that there is no such directive.
type keySet struct {
	present bool
	names   []string // sorted
}

func readKeySet(v document.Value) (keySet, error) {
	if v.Kind() != document.List {
		return keySet{}, malformed("a list of field names", describe(v), "")
	}
	s := keySet{present: true, names: make([]string, 0, v.Len())}
	for _, name := range v.Items() {
		if name.Kind() == document.String {
			s.names = append(s.names, name.Text())
		}
	}
	slices.Sort(s.names)
	return s, nil
}

// has reports whether the field of that name stays in the object.
func (s *keySet) has(name string) bool {
	if !s.present {
		return true
	}
	_, found := slices.BinarySearch(s.names, name)
	return found
}

// check refuses a patch that sets a field that it does not retain.
func (s *keySet) check(patch document.Value) error {
	if !s.present {
		return nil
	}
	for name, value := range patch.Fields() {
		if !value.IsNull() && !isDirective(name) && !s.has(name) {
			err := malformed("all fields that the patch sets to be listed", "a patch that sets "+clip(name)+", which is not",
				"add it to the list, or leave it out of the patch")
			return underField(err, retainDirective)
		}
	}
	return nil
}

// fieldCursor goes through the fields that a map of a patch is about, in the order of names: those
// that it has, and those that only its directives name.
type fieldCursor struct {
	patch   document.Value
	next    int
	orders  []listDirective // those that are left
	removes []listDirective
}

// fieldPatch is all that a map of a patch says of one field; what it does not say is absent.
type fieldPatch struct {
	name                 string
	value, order, remove document.Value
}

// advance goes to the next field. It reports false at the end.
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

// advanceWithDirectives is step while there are directives about lists left.
func (c *fieldCursor) advanceWithDirectives(t *fieldPatch) {
	*t = fieldPatch{}
	has := c.next < c.patch.Len()
	if has {
		t.name, t.value = c.patch.Field(c.next)
	}
	for _, directives := range [...][]listDirective{c.orders, c.removes} {
		if len(directives) > 0 && (!has || directives[0].name < t.name) {
			*t = fieldPatch{name: directives[0].name}
			has = true
		}
	}
	if !t.value.IsAbsent() {
		c.next++
	}
	t.order, c.orders = popDirective(c.orders, t.name)
	t.remove, c.removes = popDirective(c.removes, t.name)
}

// popDirective returns the list of the first directive if it is about the named field, and
// the directives that are left.
func popDirective(from []listDirective, name string) (document.Value, []listDirective) {
	if len(from) == 0 || from[0].name != name {
		return document.Value{}, from
	}
	return from[0].list, from[1:]
}
