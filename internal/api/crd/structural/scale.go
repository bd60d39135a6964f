package structural

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// checkScale validates the fields of the scale subresource; spec.replicas only if specReplicas is set.
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
	if v, clear := follow(obj, names); clear && (v.IsAbsent() || v.Kind() == document.String) {
		return errs
	}
	if selector, _, err := unstructured.NestedString(toGoMap(obj), names...); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(scale.LabelSelector), selector, err.Error()))
	}
	return errs
}

// checkReplicas validates a number of replicas. The error for other types is that of a package that requires Go maps.
func checkReplicas(obj document.Value, path string) field.ErrorList {
	names := pathNames(path)
	v, clear := follow(obj, names)
	replicas, ok := v.Int64()
	if !ok && !(clear && v.IsAbsent()) {
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

// follow returns the value at a path, absent if there is none; clear is false if a value on the path is not a map.
func follow(v document.Value, names []string) (at document.Value, clear bool) {
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
