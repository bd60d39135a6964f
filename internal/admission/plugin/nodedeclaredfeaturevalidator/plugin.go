// Package nodedeclaredfeaturevalidator implements kube-apiserver's admission plugin NodeDeclaredFeatureValidator: a pod
// update that requires a kubelet feature is rejected unless the pod's node declares the feature in status.declaredFeatures.
package nodedeclaredfeaturevalidator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// release is the Kubernetes version for which required features are inferred. A feature is no longer required once all
// supported kubelets have it.
var release = version.MustParseGeneric("1.37")

// Plugin is the admission plugin NodeDeclaredFeatureValidator.
type Plugin struct{ admission.ValidatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "NodeDeclaredFeatureValidator" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	isPod := r.Group == "" && r.Resource == "pods"
	if operation == admission.Update && isPod && (r.Subresource == "" || r.Subresource == "resize") {
		return admission.Validating
	}
	return 0
}

// Validate implements admission.Plugin. It admits updates of pods that are not bound to a node, and updates that leave the
// spec unchanged.
func (Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	name := a.Object.Lookup("spec", "nodeName").Text()
	if name == "" || document.Equal(a.Object.Lookup("metadata", "generation"), a.OldObject.Lookup("metadata", "generation")) {
		return nil
	}
	required, err := requiredFeatures(a)
	if err != nil || required.IsEmpty() {
		return err
	}
	object, err := a.Reader.Get(ctx, schema.GroupResource{Resource: "nodes"}, "", name)
	if err != nil {
		return err
	}
	if !object.Exists() {
		return a.Forbidden(fmt.Errorf("node %q not found", name))
	}
	var node corev1.Node
	if err := json.Unmarshal(object.Document.AppendJSON(nil), &node); err != nil {
		return err
	}
	result, err := nodedeclaredfeatures.DefaultFramework.MatchNode(required, &node)
	if err != nil {
		return a.Forbidden(fmt.Errorf("failed to match pod requirements against node %q: %w", name, err))
	}
	if !result.IsMatch {
		return a.Forbidden(fmt.Errorf("pod update requires features %s which are not available on node %q", strings.Join(result.UnsatisfiedRequirements, ", "), name))
	}
	return nil
}

// requiredFeatures returns the features that a node must declare to support the update of a pod.
func requiredFeatures(a *admission.Attributes) (required nodedeclaredfeatures.FeatureSet, err error) {
	var pod, old corev1.Pod
	if err := json.Unmarshal(a.Object.AppendJSON(nil), &pod); err != nil {
		return required, err
	}
	if err := json.Unmarshal(a.OldObject.AppendJSON(nil), &old); err != nil {
		return required, err
	}
	required, err = nodedeclaredfeatures.DefaultFramework.InferForPodUpdate(
		&nodedeclaredfeatures.PodInfo{Spec: &old.Spec, Status: &old.Status}, &nodedeclaredfeatures.PodInfo{Spec: &pod.Spec, Status: &pod.Status}, release)
	if err != nil {
		return required, a.Forbidden(fmt.Errorf("failed to infer pod capability requirements: %w", err))
	}
	return required, nil
}
