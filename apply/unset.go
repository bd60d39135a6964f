package apply

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// An unset marker (KEP-5051) is the map {k8s_io__value: unset} in place of a value of a configuration. In an item of a
// list of type map, the marker also contains the keys of the item. The applier owns the field or item, which must be
// absent from the object.

// UnsetMarkerKey is the field name of an unset marker, {k8s_io__value: unset}.
const UnsetMarkerKey = "k8s_io__value"

// UnsetMarkerValue is the only valid value of UnsetMarkerKey.
const UnsetMarkerValue = "unset"

// deletionFields are the fields that the deletion of an object sets, and that no update can remove.
var deletionFields = []fieldset.Path{
	fieldset.Names("metadata", "deletionGracePeriodSeconds"),
	fieldset.Names("metadata", "deletionTimestamp"),
}

// isUnsetMarker reports whether a value is a map that contains the field UnsetMarkerKey. The marker may be invalid.
func isUnsetMarker(v document.Value) bool {
	if v.Kind() != document.Map {
		return false
	}
	_, found := v.Find(UnsetMarkerKey)
	return found
}

// mayContainMarker reports whether a configuration may contain an unset marker. For configurations without markers,
// this search is the only cost of Options.Unset.
func mayContainMarker(v document.Value) bool {
	if v.Len() == 0 {
		return false // scalars, null and empty containers contain no markers
	}
	if text, ok := v.CanonicalJSON(); ok {
		return strings.Contains(text, UnsetMarkerKey)
	}
	if isUnsetMarker(v) {
		return true
	}
	for i := range v.Len() {
		if mayContainMarker(v.At(i)) {
			return true
		}
	}
	return false
}

// markerSplitter separates the unset markers of a configuration from the rest.
type markerSplitter struct {
	validator
	docs  fastdoc.Builder
	unset fastset.Builder
	// noZeroKeys is Options.NoZeroKeys.
	noZeroKeys bool
}

// splitMarkers returns the configuration without its markers as rest, and the set of fields at which it has markers. A
// container that contains nothing but markers is removed, too: requiring a field to be absent does not create its
// container. splitMarkers returns an InvalidError for invalid markers. It does not detect other problems of the
// configuration: validate reports them, and its error takes precedence.
func splitMarkers(t *schema.Type, config document.Value, noZeroKeys bool) (rest document.Value, unset fieldset.Set, err error) {
	s := markerSplitter{noZeroKeys: noZeroKeys}
	rest, isMarker := s.value(t, config, nil)
	if isMarker {
		s.addProblem("expected an object, received an unset marker; delete the object instead")
	}
	unset = s.unset.Set(0)
	for _, p := range untrackedFields.Paths() {
		if unset.Has(p) {
			s.problems = append(s.problems, FieldError{p, "expected a value, received an unset marker; this field identifies the object and can't be unset"})
		}
	}
	for _, p := range deletionFields {
		if unset.Has(p) {
			s.problems = append(s.problems, FieldError{p, "expected no value, received an unset marker; only the deletion of the object sets this field"})
		}
	}
	if len(s.problems) > 0 {
		return document.Value{}, fieldset.Set{}, &InvalidError{Fields: s.problems}
	}
	if rest.IsAbsent() {
		rest = document.NewMap()
	}
	return rest, unset, nil
}

// value returns v without its markers as rest, absent if nothing remains, and whether v itself is a marker. keys are
// the list map keys that a marker may contain besides UnsetMarkerKey.
func (s *markerSplitter) value(t *schema.Type, v document.Value, keys []schema.Key) (rest document.Value, isMarker bool) {
	if isUnsetMarker(v) {
		s.checkMarker(t, v, keys)
		return document.Value{}, true
	}
	if text, ok := v.CanonicalJSON(); ok && !strings.Contains(text, UnsetMarkerKey) {
		return v, false // the value contains no marker
	}
	switch {
	case v.Kind() == document.Map && t.Map != nil:
		if t.Map.Atomic {
			s.rejectMarkersIn(v)
			return v, false
		}
		return s.fields(t.Map, v), false
	case v.Kind() == document.List && t.List != nil:
		if t.List.Relationship == schema.Atomic {
			s.rejectMarkersIn(v)
			return v, false
		}
		return s.items(t.List, v), false
	}
	return v, false
}

// checkMarker adds a problem if the value of a marker is not UnsetMarkerValue, or if the marker contains fields that
// are not list map keys with valid values.
func (s *markerSplitter) checkMarker(t *schema.Type, v document.Value, keys []schema.Key) {
	if value := v.Get(UnsetMarkerKey); value.Kind() != document.String || value.Text() != UnsetMarkerValue {
		s.addProblem("expected %s: %s, received %s", UnsetMarkerKey, UnsetMarkerValue, describe(value))
	}
	for name, sibling := range v.Fields() {
		if name == UnsetMarkerKey {
			continue
		}
		if !slices.ContainsFunc(keys, func(key schema.Key) bool { return key.Name == name }) {
			s.addProblem("expected no fields beside %s except the keys of a list item, received %s: %s; remove it or the marker",
				UnsetMarkerKey, name, describe(sibling))
			continue
		}
		if isUnsetMarker(sibling) {
			s.addProblem("expected a value for the key %s, received an unset marker; a key can't be unset", name)
			continue
		}
		if sibling.IsNull() {
			s.addProblem("expected a value for the key %s, received null; set the key of the item to unset", name)
			continue
		}
		if child, _ := fieldType(t, name); !acceptsScalar(child, sibling.Kind()) {
			s.addProblem("expected %s for the key %s, received %s", scalarNames[child.Scalar], name, describe(sibling))
		}
	}
}

// fields returns the granular map v without its markers, or an absent value if nothing remains.
func (s *markerSplitter) fields(m *schema.Map, v document.Value) document.Value {
	at := len(s.path)
	docs := s.docs.Mark()
	changed := false
	for i := range v.Len() {
		e := fieldset.NameElement(v.Name(i))
		s.path = append(s.path, e)
		t, _ := m.TypeOf(v.Name(i))
		if t == nil {
			s.addProblem("expected a field that the schema declares; remove it or correct its name")
			return v
		}
		mark := s.unset.Mark()
		rest, isMarker := s.value(t, v.At(i), nil)
		s.unset.Push(e, isMarker, s.unset.Set(mark))
		changed = changed || rest != v.At(i)
		s.docs.Push(v.Name(i), rest)
		s.path = s.path[:at]
	}
	if changed && s.docs.Pushed(docs) == 0 {
		return document.Value{} // the container contained nothing but unset markers
	}
	return s.docs.MapIf(changed, docs, v)
}

// items returns the granular list v without its markers, or an absent value if nothing remains.
func (s *markerSplitter) items(l *schema.List, v document.Value) document.Value {
	v = withoutNullKeys(l, v)
	problems := len(s.problems)
	if s.requireKeys(l, v); len(s.problems) > problems {
		return v
	}
	items := s.uniqueElements(l, v)
	at := len(s.path)
	docs := s.docs.Mark()
	changed := false
	for i, e := range items {
		s.path = append(s.path, e)
		mark := s.unset.Mark()
		rest, isMarker := s.value(l.Item, v.At(i), l.Keys)
		if !isMarker {
			s.rejectMarkedKeys(l, v.At(i))
		}
		s.unset.Push(e, isMarker, s.unset.Set(mark))
		changed = changed || rest != v.At(i)
		s.docs.Push("", rest)
		s.path = s.path[:at]
	}
	if changed && s.docs.Pushed(docs) == 0 {
		return document.Value{} // the container contained nothing but unset markers
	}
	return s.docs.ListIf(changed, docs, v)
}

// requireKeys adds a problem for each item of the list v that contains a marker and omits a required key, or that is a marker and
// states no key: it identifies no item.
func (s *markerSplitter) requireKeys(l *schema.List, v document.Value) {
	if l.Relationship != schema.Keyed {
		return
	}
	for i, item := range v.Items() {
		if !mayContainMarker(item) {
			continue
		}
		var missing []string
		stated := 0
		for _, key := range l.Keys {
			switch {
			case !item.Get(key.Name).IsAbsent():
				stated++
			case s.noZeroKeys && isZero(key.Default):
				missing = append(missing, key.Name)
			}
		}
		if stated == 0 && len(missing) == 0 && isUnsetMarker(item) {
			missing = []string{keyNames(l)}
		}
		if len(missing) == 0 {
			continue
		}
		s.path = append(s.path, fieldset.IndexElement(i))
		s.addProblem("expected the key %s of the list item beside %s, received none; add it", strings.Join(missing, ", "), UnsetMarkerKey)
		s.path = s.path[:len(s.path)-1]
	}
}

// isZero reports whether a value is "", 0 or false.
func isZero(v document.Value) bool {
	switch v.Kind() {
	case document.String:
		return v.Text() == ""
	case document.Number:
		return v.JSON() == "0"
	case document.Bool:
		return v.JSON() == "false"
	}
	return false
}

// withoutNullKeys removes null keys with a default from the markers in a list, so that these keys have their default
// (KEP-5051). It returns the list itself if there are none.
func withoutNullKeys(l *schema.List, v document.Value) document.Value {
	var items []document.Value
	for i, item := range v.Items() {
		if !isUnsetMarker(item) {
			continue
		}
		for _, key := range l.Keys {
			if key.Default.IsAbsent() || !item.Get(key.Name).IsNull() {
				continue
			}
			if items == nil {
				items = make([]document.Value, v.Len())
				for j := range items {
					items[j] = v.At(j)
				}
			}
			item = item.Without(key.Name)
			items[i] = item
		}
	}
	if items == nil {
		return v
	}
	return document.NewList(items...)
}

// rejectMarkedKeys adds a problem for each key of a list item whose value is a marker.
func (s *markerSplitter) rejectMarkedKeys(l *schema.List, item document.Value) {
	for _, key := range l.Keys {
		if isUnsetMarker(item.Get(key.Name)) {
			s.addProblem("expected a value for the key %s, received an unset marker; a key can't be unset", key.Name)
		}
	}
}

// rejectMarkersIn adds a problem for each marker inside of an atomic value.
func (s *markerSplitter) rejectMarkersIn(v document.Value) {
	at := len(s.path)
	for i := range v.Len() {
		e := fieldset.IndexElement(i)
		if v.Kind() == document.Map {
			e = fieldset.NameElement(v.Name(i))
		}
		s.path = append(s.path, e)
		if isUnsetMarker(v.At(i)) {
			s.addProblem("expected a value, received an unset marker inside of an atomic value; unset the whole value or leave the field out")
		} else {
			s.rejectMarkersIn(v.At(i))
		}
		s.path = s.path[:at]
	}
}
