package admission

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/objects"
)

// Nodes is what the kind of nodes is called in keys.
const Nodes = "core/nodes"

// untried is what a node is tainted with until somebody has seen that it works.
var untried = document.NewMap(
	document.Field{Name: "key", Value: document.NewString("node.kubernetes.io/not-ready")},
	document.Field{Name: "effect", Value: document.NewString("NoSchedule")},
)

// ForNodes returns what new nodes get: nothing is scheduled to them yet.
func ForNodes() objects.Extra {
	return objects.Extra{Amend: func(_ context.Context, node, live document.Value) (document.Value, error) {
		if !live.IsAbsent() {
			return node, nil
		}
		spec := node.Get("spec")
		var taints []document.Value
		for _, taint := range spec.Get("taints").Items() {
			if document.Equal(taint.Get("key"), untried.Get("key")) && document.Equal(taint.Get("effect"), untried.Get("effect")) {
				return node, nil
			}
			taints = append(taints, taint)
		}
		return node.With("spec", spec.With("taints", document.NewList(append(taints, untried)...))), nil
	}}
}
