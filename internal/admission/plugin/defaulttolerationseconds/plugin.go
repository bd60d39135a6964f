// Package defaulttolerationseconds implements the admission plugin DefaultTolerationSeconds: it adds tolerations to pods, so
// that they tolerate a not-ready or unreachable node for five minutes, unless the pod specifies tolerations for these
// taints.
package defaulttolerationseconds

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Plugin is the admission plugin DefaultTolerationSeconds.
type Plugin struct{ admission.MutatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "DefaultTolerationSeconds" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation != admission.Delete && r.Is("", "pods") {
		return admission.Mutating
	}
	return 0
}

// taints are the keys of the NoExecute taints that pods tolerate for tolerationSeconds by default.
var taints = []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

const tolerationSeconds = 300

// Admit implements admission.Plugin.
func (Plugin) Admit(_ context.Context, a *admission.Attributes) error {
	spec := a.Object.Get("spec")
	var all []document.Value
	for _, t := range spec.Get("tolerations").Items() {
		all = append(all, t)
	}
	had := len(all)
	for _, key := range taints {
		if tolerates(all[:had], key) {
			continue
		}
		all = append(all, document.NewMap(
			document.Field{Name: "effect", Value: document.NewString("NoExecute")},
			document.Field{Name: "key", Value: document.NewString(key)},
			document.Field{Name: "operator", Value: document.NewString("Exists")},
			document.Field{Name: "tolerationSeconds", Value: document.NewInt(tolerationSeconds)},
		))
	}
	if len(all) > had {
		a.Object = a.Object.With("spec", spec.With("tolerations", document.NewList(all...)))
	}
	return nil
}

// tolerates reports whether one of the tolerations applies to taints with the key and the effect NoExecute.
func tolerates(tolerations []document.Value, key string) bool {
	for _, t := range tolerations {
		k, effect := t.Get("key").Text(), t.Get("effect").Text()
		if (k == "" || k == key) && (effect == "" || effect == "NoExecute") {
			return true
		}
	}
	return false
}
