package admission

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

// UserInfo returns a user as Kubernetes' libraries take it. A nil user is one without a name.
func UserInfo(u *authn.User) user.Info {
	if u == nil {
		return &user.DefaultInfo{}
	}
	return &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
}

// Authorizer adapts the RBAC authorizer to the interface of Kubernetes' libraries.
func Authorizer(a *rbac.Authorizer) authorizer.Authorizer { return authority{a} }

type authority struct{ *rbac.Authorizer }

// Authorize implements authorizer.Authorizer.
func (a authority) Authorize(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	who := at.GetUser()
	allowed, reason := a.Allowed(&rbac.Attributes{
		User: &authn.User{Name: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: who.GetExtra()},
		Verb: at.GetVerb(), Group: at.GetAPIGroup(), Resource: at.GetResource(), Subresource: at.GetSubresource(),
		Namespace: at.GetNamespace(), Name: at.GetName(),
		NonResource: !at.IsResourceRequest(), Path: at.GetPath(),
	})
	if allowed {
		return authorizer.DecisionAllow, reason, nil
	}
	return authorizer.DecisionNoOpinion, reason, nil
}
