package structural

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// Warnings returns warnings about the names of finalizers that a write adds to a valid object. It is not called for updates
// of the status.
func (t *Type) Warnings(obj, old document.Value) (warnings []string) {
	finalizers := obj.Lookup("metadata", "finalizers")
	if finalizers.Len() == 0 {
		return nil
	}
	added, had := stringItems(finalizers), stringItems(old.Lookup("metadata", "finalizers"))
	slices.Sort(added)
	for _, name := range slices.Compact(added) {
		if !slices.Contains(had, name) {
			warnings = append(warnings, finalizerWarnings(name)...)
		}
	}
	return warnings
}

func finalizerWarnings(name string) (warnings []string) {
	warn := func(what string) { warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: %s", name, what)) }
	for _, problem := range validation.IsQualifiedName(name) {
		warn(problem)
	}
	switch {
	case strings.Contains(name, "/") || isStandardFinalizer(name):
	case strings.Contains(name, "."):
		warn("prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers")
	default:
		warn("prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers")
	}
	return warnings
}

func isStandardFinalizer(name string) bool {
	return name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents || name == string(corev1.FinalizerKubernetes)
}
