// Package rbacescalation implements the privilege escalation checks of kube-apiserver's RBAC registry as an admission
// plugin: users may grant only permissions that they hold, unless they have the verb escalate or bind on the role.
package rbacescalation

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

// Plugin is the admission plugin RBACEscalation.
type Plugin struct {
	admission.ValidatingOnly
	// RBAC resolves the rules that a user holds; Authorizer decides whether the user has the verbs escalate and bind.
	RBAC       *rbac.Authorizer
	Authorizer authorizer.Authorizer
}

// Name implements admission.Plugin.
func (*Plugin) Name() string { return "RBACEscalation" }

// Handles implements admission.Plugin.
func (*Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation != admission.Delete && r.Group == "rbac.authorization.k8s.io" {
		return admission.Validating
	}
	return 0
}

// Validate implements admission.Plugin.
func (p *Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	metadata := a.Object.Get("metadata")
	w := &rbac.Write{
		User: a.User, Kind: a.Group + "/" + a.Resource.Resource,
		Namespace: metadata.Get("namespace").Text(), Name: metadata.Get("name").Text(), New: a.Object.AppendJSON(nil),
	}
	if !a.OldObject.IsAbsent() {
		w.Old = a.OldObject.AppendJSON(nil)
	}
	return p.RBAC.CheckEscalation(ctx, p.Authorizer, w)
}
