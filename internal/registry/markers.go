package registry

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Unset markers outside of apply
//
// Only apply has unset markers. Create, update and all patches return a 400 if they would store a map with the field
// k8s_io__value, for all kinds alike and also inside of fields without a schema: stored, such a map would look like a marker
// when a client extracts its configuration. Such maps may be written back if they are stored already, for instance because
// the feature gate was disabled when they were written.

// mayContainMarker reports whether the text of a body contains the field name of unset markers, or an escape with which it
// may be spelled.
func mayContainMarker(text string) bool {
	return strings.Contains(text, apply.UnsetMarkerKey) || strings.Contains(text, `\`)
}

// marker is a map with the field k8s_io__value in a document.
type marker struct {
	path fieldset.Path
	// place is the path without the indexes of list items. Items of keyed lists have their keys.
	place string
	// value is the value of the field k8s_io__value.
	value document.Value
}

// maxMarkers is the maximum number of markers in an error.
const maxMarkers = 20

// markerFinder finds the markers of a document.
type markerFinder struct {
	// limit is the maximum number of markers; 0 means no limit.
	limit int
	// excludes reports whether a marker is not to be found; nil excludes none.
	excludes func(marker) bool
	path     fieldset.Path
	place    []byte
	found    []marker
}

// findMarkers returns the maps with the field k8s_io__value in a document of topology t, at most maxMarkers of them, except those that
// excludes excludes. The topology and excludes may be nil.
func findMarkers(t *schema.Type, doc document.Value, excludes func(marker) bool) []marker {
	f := markerFinder{limit: maxMarkers, excludes: excludes}
	f.find(t, doc)
	return f.found
}

func (f *markerFinder) find(t *schema.Type, v document.Value) {
	if v.Len() == 0 || f.limit > 0 && len(f.found) == f.limit {
		return
	}
	if isMarker(v) {
		m := marker{slices.Clone(f.path), string(f.place), v.Get(apply.UnsetMarkerKey)}
		if f.excludes == nil || !f.excludes(m) {
			f.found = append(f.found, m)
			return
		}
	}
	for i := range v.Len() {
		e, child := elementAt(t, v, i)
		length := len(f.place)
		f.path, f.place = append(f.path, e), appendPlace(f.place, t, v, i)
		f.find(child, v.At(i))
		f.path, f.place = f.path[:len(f.path)-1], f.place[:length]
	}
}

// elementAt returns the path element and the type of the i-th field or item of a value of type t; the type is nil if it is unknown.
func elementAt(t *schema.Type, v document.Value, i int) (e fieldset.Element, child *schema.Type) {
	if v.Kind() == document.Map {
		if t != nil && t.Map != nil {
			child, _ = t.Map.TypeOf(v.Name(i))
		}
		return fieldset.NameElement(v.Name(i)), child
	}
	if t != nil && t.List != nil {
		child = t.List.Item
	}
	return fieldset.IndexElement(i), child
}

// appendPlace appends the name of the i-th field of a value of type t, or the keys of its i-th item.
func appendPlace(place []byte, t *schema.Type, v document.Value, i int) []byte {
	if v.Kind() == document.Map {
		return strconv.AppendQuote(append(place, '.'), v.Name(i))
	}
	place = append(place, '[')
	if t != nil && t.List != nil && t.List.Relationship == schema.Keyed {
		for _, key := range t.List.Keys {
			value := v.At(i).Get(key.Name)
			if value.IsAbsent() || value.IsNull() {
				value = key.Default
			}
			place = append(append(place, value.JSON()...), ',')
		}
	}
	return append(place, ']')
}

// hasMarkers reports whether the apply configuration of a request contains unset markers.
func (w *write) hasMarkers(config document.Value) bool {
	return w.Unset && mayContainMarker(w.Body.Text) && len(findMarkers(nil, config, nil)) > 0
}

// isMarker reports whether a value is a map with the field k8s_io__value.
func isMarker(v document.Value) bool {
	return v.Kind() == document.Map && !v.Get(apply.UnsetMarkerKey).IsAbsent()
}

// markerSet returns the paths of the unset markers of an apply configuration of topology t. A key that a list item omits has its
// default.
func markerSet(t *schema.Type, config document.Value) fieldset.Set {
	var found []fieldset.Path
	appendMarkerPaths(&found, nil, t, config)
	return fieldset.New(found...)
}

// appendMarkerPaths appends the paths of the unset markers in v, the value of type t at a path.
func appendMarkerPaths(found *[]fieldset.Path, path fieldset.Path, t *schema.Type, v document.Value) {
	if isMarker(v) {
		*found = append(*found, slices.Clone(path))
		return
	}
	for i := range v.Len() {
		e, child := elementAt(t, v, i)
		if v.Kind() == document.List {
			if t == nil || t.List == nil || t.List.Relationship != schema.Keyed {
				return // lists without keys contain no markers
			}
			e = keyElement(t.List.Keys, v.At(i))
		}
		appendMarkerPaths(found, append(path, e), child, v.At(i))
	}
}

// keyElement returns the path element of a list item. A key that the item omits has its default.
func keyElement(keys []schema.Key, item document.Value) fieldset.Element {
	var fields []fieldset.KeyField
	for _, key := range keys {
		value := item.Get(key.Name)
		if value.IsAbsent() || value.IsNull() {
			value = key.Default
		}
		if !value.IsAbsent() {
			fields = append(fields, fieldset.KeyField{Name: key.Name, Value: value})
		}
	}
	return fieldset.KeyElement(fields...)
}

// withoutMarkedContainers returns an apply configuration of topology t without the declared fields that contain nothing but unset
// markers and that no field manager owns. owned contains the owned fields. If the apply empties such a list or map, it is removed
// from the object, as if the configuration did not contain it.
func withoutMarkedContainers(t *schema.Type, config document.Value, owned fieldset.Set) document.Value {
	switch {
	case t == nil:
	case config.Kind() == document.Map && t.Map != nil:
		rest := config
		for name, value := range config.Fields() {
			field, declared := t.Map.TypeOf(name)
			if !declared {
				continue
			}
			below, isOwned := owned.Below(fieldset.NameElement(name))
			if hasOnlyMarkers(value) && !isOwned {
				rest = rest.Without(name)
			} else if inner := withoutMarkedContainers(field, value, below); !document.Same(inner, value) {
				rest = rest.With(name, inner)
			}
		}
		return rest
	case config.Kind() == document.List && t.List != nil && t.List.Relationship == schema.Keyed:
		items := make([]document.Value, config.Len())
		changed := false
		for i, item := range config.Items() {
			below, _ := owned.Below(keyElement(t.List.Keys, item))
			items[i] = withoutMarkedContainers(t.List.Item, item, below)
			changed = changed || !document.Same(items[i], item)
		}
		if changed {
			return document.NewList(items...)
		}
	}
	return config
}

// hasOnlyMarkers reports whether a value of an apply configuration is an unset marker, or a list or map that contains nothing but
// unset markers.
func hasOnlyMarkers(v document.Value) bool {
	if isMarker(v) {
		return true
	}
	for i := range v.Len() {
		if !hasOnlyMarkers(v.At(i)) {
			return false
		}
	}
	return v.Len() > 0
}

// ownedFields returns the fields that the field managers of some managed fields entries own.
func ownedFields(entries []apply.Entry) (fieldset.Set, error) {
	var owned fieldset.Set
	for _, e := range entries {
		fields, err := e.Fields()
		if err != nil {
			return owned, err
		}
		owned = owned.Union(fields)
	}
	return owned, nil
}

// storedMarkers returns a function that reports whether the live object has a marker of the same value at the same place.
func storedMarkers(t *schema.Type, live document.Value) func(marker) bool {
	type key struct{ place, value string }
	var stored map[key]bool
	return func(m marker) bool {
		if stored == nil {
			stored = map[key]bool{}
			f := markerFinder{excludes: func(m marker) bool { stored[key{m.place, m.value.JSON()}] = true; return true }}
			f.find(t, live)
		}
		return stored[key{m.place, m.value.JSON()}]
	}
}

// checkNoMarkers returns a 400 if a document, the result of a request, contains a marker that the live object does not contain at the
// same place.
func (e *Endpoint) checkNoMarkers(live, doc document.Value) error {
	if metadata := doc.Get("metadata"); !metadata.IsAbsent() {
		doc = doc.With("metadata", withoutManaged(metadata))
	}
	return markerError(findMarkers(e.markerTopology(), doc, storedMarkers(e.markerTopology(), live)))
}

// markerTopology returns the topology of the endpoint's bodies; nil if bodies are not objects of the resource.
func (e *Endpoint) markerTopology() *schema.Type {
	if e.isProjected() {
		return nil
	}
	return e.topology
}

// checkPatchBody is checkNoMarkers for the body of a merge patch, in which null removes the field k8s_io__value. It compares list
// items without their keys, because the body may omit them; checkNoMarkers is called for the result as well.
func (r *Registry) checkPatchBody(text string, live, body document.Value) error {
	if !r.Unset || !mayContainMarker(text) || body.Kind() != document.Map {
		return nil
	}
	isStored := storedMarkers(nil, live)
	return markerError(findMarkers(nil, body, func(m marker) bool { return m.value.IsNull() || isStored(m) }))
}

// checkPatched returns the 400 of checkNoMarkers for the result of a patch. Most patches contain neither the field name nor an escape,
// and are not searched; but a JSON patch can copy stored data.
func (w *write) checkPatched(live, body, patched document.Value) error {
	if !w.Unset || !mayContainMarker(w.Body.Text) && (body.Kind() != document.List || len(findMarkers(nil, live, nil)) == 0) {
		return nil
	}
	return w.Endpoint.checkNoMarkers(live, patched)
}

// markerError returns the 400 for unset markers outside of apply; nil if there are none.
func markerError(found []marker) error {
	if len(found) == 0 {
		return nil
	}
	var problems []string
	details := &metav1.StatusDetails{}
	for _, m := range found {
		problem := "expected a value, received an unset marker, which only apply supports; " +
			"send the request as application/apply-patch+yaml, or remove the marker"
		problems = append(problems, fmt.Sprintf("%s: %s", m.path, problem))
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Message: problem, Field: m.path.String()})
	}
	status := apierrors.NewBadRequest(strings.Join(problems, "; "))
	status.ErrStatus.Details = details
	return status
}

// decodeUnmarked decodes the body of a create or update request, see Request.decodeObject. It returns a 400 for unset markers
// that are not in the live object. live is called only if the body may contain markers.
func (r *Registry) decodeUnmarked(request *Request, live func() document.Value) (decoded, error) {
	if r.Unset && mayContainMarker(request.Body.Text) {
		doc, err := request.Body.Parse()
		if err != nil {
			return decoded{}, err
		}
		if len(findMarkers(nil, doc, nil)) > 0 {
			if err := request.Endpoint.checkNoMarkers(live(), doc); err != nil {
				return decoded{}, err
			}
		}
	}
	return request.decodeObject()
}

// withoutManaged returns the metadata of an object without managedFields, whose field sets may contain any name.
func withoutManaged(metadata document.Value) document.Value {
	if metadata.Kind() != document.Map {
		return metadata
	}
	return metadata.Without("managedFields")
}

// liveDocument returns the live object of a request at the request's version; absent if there is none or it cannot be read.
func (r *Registry) liveDocument(ctx context.Context, request *Request) document.Value {
	live, err := r.newWrite(request, verb{}).load(ctx)
	if err != nil {
		return document.Value{}
	}
	return live.current.Document
}

// noObject is an argument of decodeUnmarked for requests without a live object.
func noObject() document.Value { return document.Value{} }
