package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/addresses"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/rbac"
	"github.com/cadastre/cadastre/internal/store"
)

// systemNamespaces are there from the beginning.
var systemNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// The server's own writes are by this user, and known as this manager.
var systemUser = &identity.User{Name: "system:apiserver", Groups: []string{identity.MastersGroup}}

const systemManager = "cadastre"

// bootstrap makes objects that must be there, side by side, so that they share the wait for the
// disk.
func bootstrap(ctx context.Context, all *objects.Objects, address net.Addr) error {
	changes, err := rbac.Reconcile(func(kind, name string) ([]byte, error) {
		o, err := all.Cache.Get(ctx, cache.Key{Kind: kind, Name: name}, cache.Latest)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
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
				makeService(ctx, all, address) // it is in this namespace
			}
			return err
		})
	}
	for _, class := range admission.SystemClasses {
		body := fmt.Sprintf(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":%q},"value":%d,"description":%q}`,
			class.Name, class.Value, class.Description)
		group.Go(func() error { return makeIfAbsent(ctx, all, "scheduling.k8s.io", "priorityclasses", body) })
	}
	group.Go(func() error { return makeNetwork(ctx, all) })
	return group.Wait()
}

// makeIfAbsent makes an object that users may have changed since.
func makeIfAbsent(ctx context.Context, all *objects.Objects, group, resource, body string) error {
	err := write(ctx, all, all.Create, own{group: group, resource: resource, body: body})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// makeNetwork tells clients which addresses services get.
func makeNetwork(ctx context.Context, all *objects.Objects) error {
	const group, resource, name = "networking.k8s.io", "servicecidrs", "kubernetes"
	head := `{"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":"` + name + `"},`
	if err := write(ctx, all, all.Create, own{group: group, resource: resource, body: fmt.Sprintf(`%s"spec":{"cidrs":[%q]}}`, head, addresses.Network)}); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	ready := fmt.Sprintf(`%s"status":{"conditions":[{"type":"Ready","status":"True","reason":"","message":"Kubernetes default Service CIDR is ready","lastTransitionTime":%q}]}}`,
		head, all.Now().UTC().Format(time.RFC3339))
	return write(ctx, all, all.Apply, own{group: group, resource: resource, subresource: "status", name: name, body: ready})
}

// makeRole does what must be done to a role or binding.
func makeRole(ctx context.Context, all *objects.Objects, resource string, c rbac.Change) error {
	body := string(c.Document)
	switch c.Operation {
	case rbac.Update:
		return write(ctx, all, all.Update, own{group: rbacGroup, resource: resource, name: c.Name, body: body})
	case rbac.Recreate:
		endpoint, err := endpointOf(all, rbacGroup, resource, "")
		if err != nil {
			return err
		}
		if _, err := all.Delete(ctx, &objects.Deletion{Endpoint: endpoint, Name: c.Name}); err != nil {
			return err
		}
	}
	return write(ctx, all, all.Create, own{group: rbacGroup, resource: resource, body: body})
}

// own is something that the server itself writes.
type own struct{ group, resource, subresource, namespace, name, body, manager string }

// write has the server write an object of its own.
func write(ctx context.Context, all *objects.Objects, do func(context.Context, *objects.Request) (objects.Result, error), o own) error {
	endpoint, err := endpointOf(all, o.group, o.resource, o.subresource)
	if err != nil {
		return err
	}
	_, err = do(ctx, &objects.Request{
		Endpoint: endpoint, Namespace: o.namespace, Name: o.name, Body: objects.Body{Text: o.body},
		User: systemUser, Manager: cmp.Or(o.manager, systemManager), Force: true,
		MayCreate: func(context.Context) error { return nil },
		Warn:      func(string) {},
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", o.resource, err)
	}
	return nil
}

func endpointOf(all *objects.Objects, group, resource, subresource string) (*objects.Endpoint, error) {
	kind, _ := all.Kinds.Resource(group, "v1", resource)
	return all.Endpoint(kind, "v1", subresource)
}
