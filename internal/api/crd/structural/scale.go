package structural

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// checkScale returns the errors of the fields that the scale subresource reads. The field at specReplicasPath is checked only
// if specReplicas is true.
func (t *Type) checkScale(obj document.Value, specReplicas bool) (errs field.ErrorList) {
	scale := t.options.Scale
	if scale == nil {
		return nil
	}
	if specReplicas {
		errs = append(errs, checkReplicas(obj, scale.SpecReplicas)...)
	}
	errs = append(errs, checkReplicas(obj, scale.StatusReplicas)...)
	if scale.LabelSelector == "" {
		return errs
	}
	names := pathNames(scale.LabelSelector)
	if v, reachable := lookupPath(obj, names); reachable && (v.IsAbsent() || v.Kind() == document.String) {
		return errs
	}
	if selector, _, err := unstructured.NestedString(toGoMap(obj), names...); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(scale.LabelSelector), selector, err.Error()))
	}
	return errs
}

// checkReplicas returns an error if the value at path is present and is not an integer from 0 to the maximum of int32,
// inclusive. For a value that is not an integer, it returns the error of package unstructured, which requires Go maps.
func checkReplicas(obj document.Value, path string) field.ErrorList {
	names := pathNames(path)
	v, reachable := lookupPath(obj, names)
	replicas, ok := v.Int64()
	if !ok && !(reachable && v.IsAbsent()) {
		var err error
		if replicas, _, err = unstructured.NestedInt64(toGoMap(obj), names...); err != nil {
			return field.ErrorList{field.Invalid(field.NewPath(path), replicas, err.Error())}
		}
	}
	switch {
	case replicas < 0:
		return field.ErrorList{field.Invalid(field.NewPath(path), replicas, "should be a non-negative integer")}
	case replicas > math.MaxInt32:
		return field.ErrorList{field.Invalid(field.NewPath(path), replicas, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}

// lookupPath returns the value at the path names in v; an absent value if there is none. reachable is false if a value along
// the path is not a map.
func lookupPath(v document.Value, names []string) (value document.Value, reachable bool) {
	for _, name := range names {
		if v.IsAbsent() {
			return v, true
		}
		if v.Kind() != document.Map {
			return document.Value{}, false
		}
		v = v.Get(name)
	}
	return v, true
}

func pathNames(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

func toGoMap(obj document.Value) map[string]any {
	m, _ := obj.ToGo().(map[string]any)
	return m
}
