package app

import (
	"context"

	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/registry"
)

const rbacGroup = "rbac.authorization.k8s.io"

// aggregate returns a function that applies the rules of an aggregated ClusterRole.
func aggregate(all *registry.Registry) func(context.Context, rbac.AggregatedRole) error {
	return func(ctx context.Context, g rbac.AggregatedRole) error {
		return write(ctx, all, all.Apply, systemWrite{group: rbacGroup, resource: "clusterroles", name: g.Name, body: string(g.Configuration), manager: rbac.AggregationManager})
	}
}
