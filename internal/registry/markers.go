package registry

import (
	"context"
	"fmt"
	"slices"
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
	path  fieldset.Path
	value document.Value
}

// maxMarkers is the maximum number of markers that findMarkers returns.
const maxMarkers = 20

// findMarkers returns the maps with the field k8s_io__value in a document, except maps inside of another such map and maps
// for which known returns true.
func findMarkers(doc document.Value, known func(document.Value) bool) []marker {
	var (
		found []marker
		path  fieldset.Path
		walk  func(v document.Value)
	)
	walk = func(v document.Value) {
		if v.Len() == 0 || len(found) == maxMarkers {
			return
		}
		if isMarker(v) {
			if !known(v) {
				found = append(found, marker{append(fieldset.Path(nil), path...), v})
			}
			return
		}
		for i := range v.Len() {
			e := fieldset.IndexElement(i)
			if v.Kind() == document.Map {
				e = fieldset.NameElement(v.Name(i))
			}
			path = append(path, e)
			walk(v.At(i))
			path = path[:len(path)-1]
		}
	}
	walk(doc)
	return found
}

// hasMarkers reports whether the apply configuration of a request contains unset markers.
func (w *write) hasMarkers(config document.Value) bool {
	return w.Unset && mayContainMarker(w.Body.Text) && len(findMarkers(config, anyMarker)) > 0
}

// unsetMarker is the map {k8s_io__value: unset}.
var unsetMarker = document.NewMap(document.Field{Name: apply.UnsetMarkerKey, Value: document.NewString(apply.UnsetMarkerValue)})

// withTextMarkers returns a live Secret and an apply configuration in which each marker of stringData is copied to data and
// vice versa, unless the configuration sets the field there. Because the server moves stringData to data, a field is absent
// only if both lack it. The live Secret gets the unset fields in stringData, so that the apply conflicts with field managers
// that wrote them to stringData.
func (w *write) withTextMarkers(live, config document.Value) (document.Value, document.Value) {
	data, text := config.Get("data"), config.Get("stringData")
	if isMarker(text) {
		w.Warn("stringData: the unset marker has no effect, because the server moves stringData to data; unset data, or single fields of stringData")
	}
	mirroredData, mirroredText := withMarkersOf(data, text), withMarkersOf(text, data)
	config = config.With("data", mirroredData).With("stringData", mirroredText)
	var written []document.Field
	for name, value := range mirroredText.Fields() {
		if isMarker(value) && !live.Lookup("data", name).IsAbsent() {
			written = append(written, document.Field{Name: name, Value: document.NewString("")})
		}
	}
	if len(written) > 0 {
		live = live.With("stringData", document.NewMap(written...))
	}
	return live, config
}

// withMarkersOf returns the map m with the unset markers of the map other, except for fields that m has. If m or other is not
// a map, it returns m unchanged.
func withMarkersOf(m, other document.Value) document.Value {
	if isMarker(m) || m.Kind() != document.Map && !m.IsAbsent() || isMarker(other) || other.Kind() != document.Map {
		return m
	}
	for name, value := range other.Fields() {
		if isMarker(value) && m.Get(name).IsAbsent() {
			m = m.With(name, unsetMarker)
		}
	}
	return m
}

// isMarker reports whether a value is a map with the field k8s_io__value.
func isMarker(v document.Value) bool {
	return v.Kind() == document.Map && !v.Get(apply.UnsetMarkerKey).IsAbsent()
}

// markerDepth returns the length of the shortest prefix of path at which config has an unset marker; 0 if there is none.
func markerDepth(config document.Value, t *schema.Type, path fieldset.Path) int {
	v := config
	for i, e := range path {
		switch {
		case e.Kind() == fieldset.FieldName && v.Kind() == document.Map:
			v = v.Get(e.Name())
			if t != nil && t.Map != nil {
				t, _ = t.Map.TypeOf(e.Name())
			} else {
				t = nil
			}
		case e.Kind() == fieldset.Key && v.Kind() == document.List && t != nil && t.List != nil:
			v, t = itemWithKeys(v, t.List.Keys, e), t.List.Item
		default:
			return 0
		}
		if isMarker(v) {
			return i + 1
		}
	}
	return 0
}

// itemWithKeys returns the item of a configuration's list that the path element e selects; absent if there is none. A key
// that an item omits has its default.
func itemWithKeys(list document.Value, keys []schema.Key, e fieldset.Element) document.Value {
	for _, item := range list.Items() {
		matches := true
		for _, selected := range e.KeyFields() {
			value := item.Get(selected.Name)
			if i := slices.IndexFunc(keys, func(k schema.Key) bool { return k.Name == selected.Name }); i >= 0 && (value.IsAbsent() || value.IsNull()) {
				value = keys[i].Default
			}
			matches = matches && document.Equal(value, selected.Value)
		}
		if matches {
			return item
		}
	}
	return document.Value{}
}

// anyMarker is an argument of findMarkers that excludes no marker.
func anyMarker(document.Value) bool { return false }

// storedMarkers returns a function that reports whether a map equals a map with the field k8s_io__value in the live object.
func storedMarkers(live document.Value) func(document.Value) bool {
	var stored map[string]bool
	return func(v document.Value) bool {
		if stored == nil {
			stored = map[string]bool{}
			_ = findMarkers(live, func(v document.Value) bool { stored[v.JSON()] = true; return true })
		}
		return stored[v.JSON()]
	}
}

// checkNoMarkers returns a 400 if documents contain a map with the field k8s_io__value that the live object does not contain.
// text is the body of the request; most bodies contain neither the field name nor an escape and are not searched.
func (r *Registry) checkNoMarkers(text string, live document.Value, documents ...document.Value) error {
	if !r.Unset || !mayContainMarker(text) {
		return nil
	}
	for _, doc := range documents {
		if metadata := doc.Get("metadata"); !metadata.IsAbsent() {
			doc = doc.With("metadata", withoutManaged(metadata))
		}
		if err := markerError(findMarkers(doc, storedMarkers(live))); err != nil {
			return err
		}
	}
	return nil
}

// checkPatchMarkers is checkNoMarkers for the body of a merge patch, in which null removes the field k8s_io__value.
func (r *Registry) checkPatchMarkers(text string, live, body document.Value) error {
	if !r.Unset || !mayContainMarker(text) || body.Kind() != document.Map {
		return nil
	}
	isStored := storedMarkers(live)
	return markerError(findMarkers(body, func(v document.Value) bool { return v.Get(apply.UnsetMarkerKey).IsNull() || isStored(v) }))
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
		if len(findMarkers(doc, anyMarker)) > 0 {
			if err := r.checkNoMarkers(request.Body.Text, live(), doc); err != nil {
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
