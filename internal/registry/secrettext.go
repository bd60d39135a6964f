package registry

import (
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Unset markers in Secrets
//
// stringData is write-only: the server moves its values to data, but field managers own them in stringData. So data.x and
// stringData.x are one field with two names, which is absent only if both are: a marker at one of them applies to both.
// Unsetting data unsets stringData; unsetting stringData as a whole has no effect, because no Secret has it. A configuration
// that unsets a field by one name and sets it by the other is rejected.

// unsetMarker is the map {k8s_io__value: unset}.
var unsetMarker = document.NewMap(document.Field{Name: apply.UnsetMarkerKey, Value: document.NewString(apply.UnsetMarkerValue)})

// textMarkersWarning is the warning about a marker in place of stringData.
const textMarkersWarning = "stringData: the unset marker has no effect, because the server moves stringData to data; unset data, or single fields of stringData"

// withTextMarkers returns a live Secret and an apply configuration with markers in which each marker of stringData is copied to
// data and vice versa. The live Secret gets the unset fields in stringData, so that field managers that wrote them to
// stringData conflict with the apply, or lose them. withTextMarkers returns an *apply.InvalidError if the configuration unsets
// and sets a field.
func withTextMarkers(live, config document.Value) (document.Value, document.Value, error) {
	data, text := config.Get("data"), config.Get("stringData")
	if err := checkTextMarkers(data, text); err != nil {
		return live, config, err
	}
	mirroredData, mirroredText := withMarkersOf(data, text), withMarkersOf(text, data)
	if isMarker(data) {
		mirroredText = unsetMarker
	}
	config = withField(withField(config, "data", mirroredData), "stringData", mirroredText)
	var written []document.Field
	for name := range live.Get("data").Fields() {
		if isMarker(data) || !isMarker(text) && isMarker(mirroredText.Get(name)) {
			written = append(written, document.Field{Name: name, Value: document.NewString("")})
		}
	}
	if len(written) > 0 {
		live = live.With("stringData", document.NewMap(written...))
	}
	return live, config, nil
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

// checkTextMarkers returns an *apply.InvalidError if one of the maps data and stringData of a configuration unsets a field that
// the other sets.
func checkTextMarkers(data, text document.Value) error {
	invalid := &apply.InvalidError{}
	reject := func(path, other fieldset.Path) {
		problem := fmt.Sprintf("expected no unset marker beside the value of %s, which is the same field; remove one of them", other)
		invalid.Fields = append(invalid.Fields, apply.FieldError{Path: path, Problem: problem})
	}
	for _, side := range []struct {
		name, other   string
		fields, value document.Value
	}{{"data", "stringData", data, text}, {"stringData", "data", text, data}} {
		if isMarker(side.value) || side.value.Kind() != document.Map || side.fields.Kind() != document.Map {
			continue
		}
		for name, value := range side.value.Fields() {
			other := fieldset.Names(side.other, name)
			switch {
			case isMarker(value) || value.IsNull():
			case isMarker(side.fields) && side.name == "data":
				reject(fieldset.Names("data"), other)
			case !isMarker(side.fields) && isMarker(side.fields.Get(name)):
				reject(fieldset.Names(side.name, name), other)
			}
		}
	}
	if len(invalid.Fields) == 0 {
		return nil
	}
	return invalid
}
