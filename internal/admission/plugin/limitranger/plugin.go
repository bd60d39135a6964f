// Package limitranger implements the admission plugin LimitRanger: the LimitRanges of a namespace set default requests and
// limits of containers, and limit the resources of containers, pods and PersistentVolumeClaims.
package limitranger

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Plugin is the admission plugin LimitRanger.
type Plugin struct{}

// Name implements admission.Plugin.
func (Plugin) Name() string { return "LimitRanger" }

// Handles implements admission.Plugin. No-op updates are validated, too, because a LimitRange may be newer than the object.
// Updates of pods are handled only at the subresource resize, the only way to change their resources.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	isPod := r.Group == "" && r.Resource == "pods"
	switch {
	case operation == admission.Create && r.Is("", "pods"):
		return admission.Mutating | admission.Validating
	case operation == admission.Update && isPod && r.Subresource == "resize":
		return admission.Mutating | admission.Validating | admission.NoOps
	case operation == admission.Create && r.Is("", "persistentvolumeclaims"):
		return admission.Validating
	case operation == admission.Update && r.Is("", "persistentvolumeclaims"):
		return admission.Validating | admission.NoOps
	}
	return 0
}

// Admit implements admission.Plugin. It adds the defaults of every LimitRange to containers that lack them.
func (Plugin) Admit(ctx context.Context, a *admission.Attributes) error {
	ranges, err := limitRanges(ctx, a)
	for _, limitRange := range ranges {
		a.Object = withDefaults(a.Object, containerDefaults(limitRange))
	}
	return err
}

// Validate implements admission.Plugin. It reports all violations of the first LimitRange that is violated.
func (Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	ranges, err := limitRanges(ctx, a)
	if err != nil {
		return err
	}
	violations := podViolations
	if a.Resource.Resource == "persistentvolumeclaims" {
		violations = claimViolations
	}
	for _, limitRange := range ranges {
		if errs := violations(limitRange, a.Object.Get("spec")); len(errs) > 0 {
			return a.Forbidden(utilerrors.NewAggregate(errs))
		}
	}
	return nil
}

// limitRanges returns spec.limits of each LimitRange in the namespace of the written object; nil if the object is being
// deleted and is therefore exempt.
func limitRanges(ctx context.Context, a *admission.Attributes) ([]document.Value, error) {
	if !a.OldObject.Lookup("metadata", "deletionTimestamp").IsAbsent() {
		return nil, nil
	}
	objects, err := a.Reader.List(ctx, schema.GroupResource{Resource: "limitranges"}, a.Namespace)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	ranges := make([]document.Value, len(objects))
	for i, object := range objects {
		ranges[i] = object.Document.Lookup("spec", "limits")
	}
	return ranges, nil
}
