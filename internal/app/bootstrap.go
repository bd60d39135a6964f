package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/priorityclass"
	"github.com/cadastre/cadastre/internal/registry/service"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// systemNamespaces are the names of the namespaces that exist on every server.
var systemNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// systemUser is the user, and systemManager the field manager, of the server's own writes.
var systemUser = &authn.User{Name: "system:apiserver", Groups: []string{authn.MastersGroup}}

const systemManager = "cadastre"

// bootstrap creates the objects that exist on every server: roles, namespaces, PriorityClasses and the service network. It
// creates them concurrently, so that they share the fsync of a group commit. Then it waits until the authorizer uses the
// roles.
func (s *Server) bootstrap(ctx context.Context, all *registry.Registry) error {
	changes, err := rbac.Reconcile(func(kind, name string) ([]byte, error) {
		o, err := all.Cache.Get(ctx, watchcache.Key{Kind: kind, Name: name}, watchcache.Latest)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, nil
		}
		if isUnreadable(err) {
			s.config.Log.Error("a default role cannot be read, so that it is neither checked nor in effect", "error", err)
			return nil, rbac.ErrUnreadable
		}
		if err != nil {
			return nil, err
		}
		return o.AppendJSON(nil), nil
	})
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, c := range changes {
		_, resource, _ := strings.Cut(c.Kind, "/")
		group.Go(func() error { return makeRole(ctx, all, resource, c) })
	}
	for _, name := range systemNamespaces {
		group.Go(func() error {
			err := makeNamespace(ctx, all, name)
			if err == nil && name == "default" {
				s.bootstrapService(ctx, all) // after makeNamespace, because the Service is in the namespace default
			}
			return err
		})
	}
	for _, class := range priorityclass.SystemClasses {
		body := fmt.Sprintf(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":%q},"value":%d,"description":%q}`,
			class.Name, class.Value, class.Description)
		group.Go(func() error { return makeIfAbsent(ctx, all, "scheduling.k8s.io", "priorityclasses", body) })
	}
	group.Go(func() error { return makeNetwork(ctx, all) })
	if !s.config.WithoutFairness {
		if err := makeFairness(ctx, all, group.Go); err != nil {
			return err
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.syncRoles(ctx)
}

// bootstrapService applies the Service default/kubernetes. If other servers use the store, it does not change a Service that exists: it
// belongs to the server that created it, which may be a kube-apiserver.
func (s *Server) bootstrapService(ctx context.Context, all *registry.Registry) {
	if s.store.IsShared() {
		own := systemObjects{all: all}
		if !own.isMissing(ctx, kubernetesService) {
			return
		}
	}
	makeService(ctx, all, s.address())
}

// syncRoles waits until the authorizer has processed all stored roles and bindings.
func (s *Server) syncRoles(ctx context.Context) error {
	for _, resource := range rbac.Resources {
		list, err := s.cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: resource}, Freshness: watchcache.Latest})
		if isUnreadable(err) {
			continue // logged when the object was loaded
		}
		if err != nil {
			return err
		}
		newest := storage.Revision(0)
		for _, object := range list.Objects {
			newest = max(newest, object.Revision())
		}
		if err := s.rbac.Sync(ctx, resource, newest); err != nil {
			return err
		}
	}
	return nil
}

// isUnreadable reports whether err is about a stored object that cannot be read, for instance because its key is missing. The server
// starts nevertheless, so that the other objects are served.
func isUnreadable(err error) bool {
	var unreadable *watchcache.UnreadableError
	return errors.As(err, &unreadable)
}

// makeIfAbsent creates an object unless it exists. An existing object is not changed.
func makeIfAbsent(ctx context.Context, all *registry.Registry, group, resource, body string) error {
	err := write(ctx, all, all.Create, systemWrite{group: group, resource: resource, body: body})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// makeNetwork creates the ServiceCIDR "kubernetes" of the default service network and marks it as ready, unless it exists.
func makeNetwork(ctx context.Context, all *registry.Registry) error {
	const group, resource, name = "networking.k8s.io", "servicecidrs", "kubernetes"
	head := `{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"` + name + `"},`
	if err := write(ctx, all, all.Create, systemWrite{group: group, resource: resource, body: fmt.Sprintf(`%s"spec":{"cidrs":[%q]}}`, head, service.DefaultCIDR)}); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	ready := fmt.Sprintf(`%s"status":{"conditions":[{"type":"Ready","status":"True","reason":"","message":"Kubernetes default Service CIDR is ready","lastTransitionTime":%q}]}}`,
		head, all.Now().UTC().Format(time.RFC3339))
	return write(ctx, all, all.Apply, systemWrite{group: group, resource: resource, subresource: "status", name: name, body: ready})
}

// makeRole creates, updates or recreates a default role or binding, depending on the Operation of the change.
func makeRole(ctx context.Context, all *registry.Registry, resource string, c rbac.Change) error {
	body := string(c.Document)
	switch c.Operation {
	case rbac.Update:
		return write(ctx, all, all.Update, systemWrite{group: rbacGroup, resource: resource, name: c.Name, body: body})
	case rbac.Recreate:
		endpoint, err := endpointOf(all, rbacGroup, resource, "")
		if err != nil {
			return err
		}
		if _, err := all.Delete(ctx, &registry.Deletion{Endpoint: endpoint, Name: c.Name}); err != nil {
			return err
		}
	}
	return write(ctx, all, all.Create, systemWrite{group: rbacGroup, resource: resource, body: body})
}

// systemWrite is a write that the server makes as systemUser. An empty manager means systemManager.
type systemWrite struct{ group, resource, subresource, namespace, name, body, manager string }

// write performs a write as systemUser with the registry operation do.
func write(ctx context.Context, all *registry.Registry, do func(context.Context, *registry.Request) (registry.Result, error), o systemWrite) error {
	endpoint, err := endpointOf(all, o.group, o.resource, o.subresource)
	if err != nil {
		return err
	}
	_, err = do(ctx, &registry.Request{
		Endpoint: endpoint, Namespace: o.namespace, Name: o.name, Body: registry.Body{Text: o.body},
		User: systemUser, Manager: cmp.Or(o.manager, systemManager), Force: true,
		AuthorizeCreate: func(context.Context) error { return nil },
		Warn:            func(string) {},
	})
	if isUnreadable(err) {
		all.Log.Error("a system object cannot be read; it is left as it is", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", o.resource, err)
	}
	return nil
}

func endpointOf(all *registry.Registry, group, resource, subresource string) (*registry.Endpoint, error) {
	kind, _ := all.Kinds.Resource(group, "v1", resource)
	return all.Endpoint(kind, "v1", subresource)
}
