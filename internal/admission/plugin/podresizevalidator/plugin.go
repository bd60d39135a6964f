// Package podresizevalidator implements kube-apiserver's admission plugin PodResizeValidator: a pod can be resized only on a
// Linux node, and only to requests that do not exceed the node's allocatable CPU and memory.
package podresizevalidator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/resource"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// The cause types of the API status with which a resize is rejected.
const (
	reasonNodeCapacity        metav1.CauseType = "NodeCapacity"
	reasonUnsupportedPlatform metav1.CauseType = "UnsupportedPlatform"
)

// Plugin is the admission plugin PodResizeValidator.
type Plugin struct{ admission.ValidatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "PodResizeValidator" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Update && r.Group == "" && r.Resource == "pods" && r.Subresource == "resize" {
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
	object, err := a.Reader.Get(ctx, schema.GroupResource{Resource: "nodes"}, "", name)
	if err != nil {
		return err
	}
	if !object.Exists() {
		return a.Forbidden(fmt.Errorf("node %q not found", name))
	}
	var (
		node corev1.Node
		pod  corev1.Pod
	)
	if err := json.Unmarshal(object.Document.AppendJSON(nil), &node); err != nil {
		return err
	}
	if err := json.Unmarshal(a.Object.AppendJSON(nil), &pod); err != nil {
		return err
	}
	if system, ok := node.Labels[corev1.LabelOSStable]; ok && system != "linux" {
		return rejected(a, reasonUnsupportedPlatform, "pod resize is only supported on linux nodes, node %q is %q", name, system)
	}
	if exceeded := exceededRequests(&pod, node.Status.Allocatable); len(exceeded) > 0 {
		return rejected(a, reasonNodeCapacity, "node didn't have enough allocatable resources: %s", strings.Join(exceeded, "; "))
	}
	return nil
}

func rejected(a *admission.Attributes, reason metav1.CauseType, format string, args ...any) error {
	err := a.Forbidden(fmt.Errorf(format, args...))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: reason})
	return err
}

// exceededRequests returns a text for each of CPU and memory for which the pod's request exceeds allocatable, the allocatable
// resources of the node.
func exceededRequests(pod *corev1.Pod, allocatable corev1.ResourceList) (exceeded []string) {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	if requested := requests.Cpu(); requested.Cmp(*allocatable.Cpu()) > 0 {
		exceeded = append(exceeded, fmt.Sprintf("cpu, requested: %d, allocatable: %d", requested.MilliValue(), allocatable.Cpu().MilliValue()))
	}
	if requested := requests.Memory(); requested.Cmp(*allocatable.Memory()) > 0 {
		exceeded = append(exceeded, fmt.Sprintf("memory, requested: %d, allocatable: %d", requested.Value(), allocatable.Memory().Value()))
	}
	return exceeded
}
