// Package taintnodesbycondition implements the admission plugin TaintNodesByCondition: it taints new nodes as not ready, so
// that no pod is scheduled to a node before its kubelet has reported it ready.
package taintnodesbycondition

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Plugin is the admission plugin TaintNodesByCondition.
type Plugin struct{ admission.MutatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "TaintNodesByCondition" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Create && r.Is("", "nodes") {
		return admission.Mutating
	}
	return 0
}

// notReady is the taint that is added to new nodes.
var notReady = document.NewMap(
	document.Field{Name: "key", Value: document.NewString("node.kubernetes.io/not-ready")},
	document.Field{Name: "effect", Value: document.NewString("NoSchedule")},
)

// Admit implements admission.Plugin.
func (Plugin) Admit(_ context.Context, a *admission.Attributes) error {
	spec := a.Object.Get("spec")
	var taints []document.Value
	for _, taint := range spec.Get("taints").Items() {
		if document.Equal(taint.Get("key"), notReady.Get("key")) && document.Equal(taint.Get("effect"), notReady.Get("effect")) {
			return nil
		}
		taints = append(taints, taint)
	}
	a.Object = a.Object.With("spec", spec.With("taints", document.NewList(append(taints, notReady)...)))
	return nil
}
