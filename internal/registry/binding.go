package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// bindingSubresource is the subresource binding, which binds a pod to a node. As in kube-apiserver it does not change managed
// fields: spec.nodeName, and the annotations and labels of the Binding, belong to no field manager.
func bindingSubresource() *Subresource {
	return &Subresource{
		Name:   "binding",
		Verbs:  []string{"create"},
		Body:   schema.GroupVersionKind{Version: "v1", Kind: "Binding"},
		Create: bindPod,
	}
}

// bindPod sets spec.nodeName of a pod that is not bound to a node. It is the Create function of the subresource binding.
func bindPod(ctx context.Context, a *Action) (metav1.Status, error) {
	if a.Body.Lookup("metadata", "name").Text() != a.Name {
		return metav1.Status{}, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(a.Body); len(errs) > 0 {
		return metav1.Status{}, errs.ToAggregate()
	}
	if err := a.ValidateAdmission(ctx); err != nil {
		return metav1.Status{}, err
	}
	_, err := a.Modify(ctx, func(live *watchcache.Object, pod document.Value) (document.Value, error) {
		if err := a.checkBindable(live, pod); err != nil {
			return pod, err
		}
		return withBinding(pod, a.Body, a.Now().UTC().Format(timeFormat)), nil
	})
	return metav1.Status{Status: metav1.StatusSuccess}, err
}

// validateBinding returns errors if the target of a Binding is not a node or has no name.
func validateBinding(binding document.Value) (errs field.ErrorList) {
	target := binding.Get("target")
	if kind := target.Get("kind").Text(); kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), kind, []string{"Node", "<empty>"}))
	}
	if target.Get("name").Text() == "" {
		errs = append(errs, field.Required(field.NewPath("target", "name"), ""))
	}
	return errs
}

// checkBindable returns a 409 if the uid or resourceVersion of the Binding is not that of the pod, or if the pod cannot be bound:
// it is being deleted, is bound already or has scheduling gates.
func (a *Action) checkBindable(live *watchcache.Object, pod document.Value) error {
	uid := pod.Lookup("metadata", "uid").Text()
	if sent := a.Body.Lookup("metadata", "uid").Text(); sent != "" && sent != uid {
		return a.bindingConflict("Precondition failed: UID in precondition: %v, UID in object meta: %v", sent, uid)
	}
	if revision := fmt.Sprint(live.Revision()); a.ResourceVersion != "" && a.ResourceVersion != revision {
		return a.bindingConflict("Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", a.ResourceVersion, revision)
	}
	switch node := pod.Lookup("spec", "nodeName").Text(); {
	case isMarkedDeleted(pod):
		return a.unbindable("pod %s is being deleted, cannot be assigned to a host", a.Name)
	case node != "":
		return a.unbindable("pod %v is already assigned to node %q", a.Name, node)
	case pod.Lookup("spec", "schedulingGates").Len() > 0:
		return a.unbindable("pod %v has non-empty .spec.schedulingGates", a.Name)
	}
	return nil
}

func (a *Action) bindingConflict(format string, args ...any) error {
	return apierrors.NewConflict(a.target.resource(), a.Name, fmt.Errorf(format, args...))
}

func (a *Action) unbindable(format string, args ...any) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, a.Name, fmt.Errorf(format, args...))
}

// withBinding returns the pod with the node, annotations and labels of a Binding, and with the condition PodScheduled.
func withBinding(pod, binding document.Value, now string) document.Value {
	metadata := pod.Get("metadata")
	for _, name := range []string{"annotations", "labels"} {
		merged := metadata.Get(name)
		for key, value := range binding.Lookup("metadata", name).Fields() {
			merged = merged.With(key, value)
		}
		metadata = withField(metadata, name, merged)
	}
	status := withPodCondition(pod.Get("status").Without("nominatedNodeName"), now, podCondition{kind: "PodScheduled"})
	return pod.With("metadata", metadata).
		With("spec", pod.Get("spec").With("nodeName", binding.Lookup("target", "name"))).
		With("status", status)
}
