// Package rbactest provides RBAC authorizers for tests.
package rbactest

import (
	"log/slog"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// resources maps the RBAC kinds to their GROUP/RESOURCE in storage keys.
var resources = map[string]string{
	"Role": rbac.Roles, "RoleBinding": rbac.RoleBindings, "ClusterRole": rbac.ClusterRoles, "ClusterRoleBinding": rbac.ClusterRoleBindings,
}

// New returns an authorizer for roles and bindings in YAML, each with its kind. It is closed when the test ends.
func New(t testing.TB, objects ...string) *rbac.Authorizer {
	t.Helper()
	cache := watchcachetest.Open(t)
	for _, text := range objects {
		doc, err := document.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		metadata := doc.Get("metadata")
		key := watchcache.Key{Kind: resources[doc.Get("kind").Text()], Namespace: metadata.Get("namespace").Text(), Name: metadata.Get("name").Text()}
		if key.Kind == "" {
			t.Fatalf("kind: expected a role or a binding, received %s", text)
		}
		if _, _, err := cache.Commit(t.Context(), storage.Write{Key: key.String(), Value: doc.AppendJSON(nil)}); err != nil {
			t.Fatal(err)
		}
	}
	authorizer, err := rbac.New(t.Context(), cache, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(authorizer.Close)
	return authorizer
}
