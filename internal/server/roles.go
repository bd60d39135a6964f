package server

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/rbac"
)

const rbacGroup = "rbac.authorization.k8s.io"

// checkEscalation keeps users from giving others more than they have.
func checkEscalation(a *rbac.Authorizer) func(context.Context, *identity.User, *kinds.Kind, document.Value, document.Value) error {
	return func(_ context.Context, user *identity.User, kind *kinds.Kind, obj, old document.Value) error {
		if kind.Group != rbacGroup {
			return nil
		}
		metadata := obj.Get("metadata")
		w := &rbac.Write{
			User: user, Kind: kind.StoreName(),
			Namespace: metadata.Get("namespace").Text(), Name: metadata.Get("name").Text(), New: obj.AppendJSON(nil),
		}
		if !old.IsAbsent() {
			w.Old = old.AppendJSON(nil)
		}
		return a.CheckEscalation(w)
	}
}

// aggregate writes the rules of roles that are made of others.
func aggregate(all *objects.Objects) func(context.Context, rbac.Gathered) error {
	return func(ctx context.Context, g rbac.Gathered) error {
		return write(ctx, all, all.Apply, own{group: rbacGroup, resource: "clusterroles", name: g.Name, body: string(g.Configuration), manager: rbac.AggregationManager})
	}
}
