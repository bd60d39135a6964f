// Package registrytest opens registries over in-memory stores, for tests of packages that use a registry.
package registrytest

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/plugin/namespacelifecycle"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// Kit combines a test with a registry. Its methods fail the test on errors, unless they return an error.
type Kit struct {
	testing.TB
	// Registry stores its objects in memory, or in the store passed to OpenStore or OpenWithPlugins.
	Registry *registry.Registry
}

// User is the user of requests in tests. It is in the group system:masters, which has all permissions.
var User = &authn.User{Name: "tester", Groups: []string{authn.MastersGroup}}

// Log is a logger that discards all messages.
var Log = slog.New(slog.DiscardHandler)

// Open returns a registry of the built-in resources over a store in memory, with the namespaces default and kube-system.
func Open(t testing.TB) *Kit {
	t.Helper()
	return OpenStore(t, watchcachetest.OpenStore(t))
}

// OpenStore returns a registry of the built-in resources over a store, with the admission plugin NamespaceLifecycle.
func OpenStore(t testing.TB, s storage.Store) *Kit {
	t.Helper()
	return OpenWithPlugins(t, s, namespacelifecycle.Plugin{})
}

// OpenWithPlugins returns a registry of the built-in resources over a store, with an admission chain of the given plugins. It
// creates the namespaces default and kube-system.
func OpenWithPlugins(t testing.TB, s storage.Store, plugins ...admission.Plugin) *Kit {
	t.Helper()
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	k := &Kit{t, registry.New(registry.Options{
		Cache: watchcachetest.OpenOn(t, s), Kinds: register, Log: Log, Admission: admission.NewChain(plugins...),
	})}
	for _, name := range []string{"default", "kube-system"} {
		_, err := k.TryCreate("namespaces", "", `{"metadata":{"name":"`+name+`"}}`)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	return k
}

// HookedStore is a store that calls Before with the writes of each commit before it commits them. Tests use it to cause races.
type HookedStore struct {
	storage.Store
	Before func([]storage.Write)
}

// Commit implements storage.Store.
func (h HookedStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if h.Before != nil {
		h.Before(writes)
	}
	return h.Store.Commit(ctx, writes...)
}

// Endpoint returns the endpoint of a resource, RESOURCE or RESOURCE.GROUP, at its preferred version.
func (k *Kit) Endpoint(resource string) *registry.Endpoint {
	k.Helper()
	name, group, _ := strings.Cut(resource, ".")
	kind, _ := k.Registry.Kinds.Resource(group, "", name)
	if kind == nil {
		k.Fatalf("resource %s not found", resource)
	}
	endpoint, err := k.Registry.Endpoint(kind, kind.Versions[0], "")
	if err != nil {
		k.Fatal(err)
	}
	return endpoint
}

// Request returns a request of User to write an object, with the field manager tester.
func (k *Kit) Request(resource, namespace, name, body string) *registry.Request {
	k.Helper()
	return &registry.Request{
		Endpoint: k.Endpoint(resource), Namespace: namespace, Name: name, Body: registry.Body{Text: body},
		User: User, Manager: User.Name, Warn: func(string) {},
	}
}

// TryCreate creates an object and returns its uid.
func (k *Kit) TryCreate(resource, namespace, body string) (uid string, err error) {
	k.Helper()
	result, err := k.Registry.Create(k.Context(), k.Request(resource, namespace, "", body))
	if err != nil {
		return "", err
	}
	return strings.Clone(result.Object.UID()), nil
}

// Create creates an object and returns its uid. It fails the test on an error.
func (k *Kit) Create(resource, namespace, body string) (uid string) {
	k.Helper()
	uid, err := k.TryCreate(resource, namespace, body)
	if err != nil {
		k.Fatal(err)
	}
	return uid
}

// Delete deletes an object with the given propagation policy.
func (k *Kit) Delete(resource, namespace, name string, propagation registry.Propagation) {
	k.Helper()
	d := &registry.Deletion{Endpoint: k.Endpoint(resource), Namespace: namespace, Name: name, Propagation: propagation}
	if _, err := k.Registry.Delete(k.Context(), d); err != nil {
		k.Fatal(err)
	}
}

// Merge patches an object with a JSON merge patch.
func (k *Kit) Merge(resource, namespace, name, patch string) {
	k.Helper()
	if _, err := k.Registry.Patch(k.Context(), k.Request(resource, namespace, name, patch), registry.MergePatch); err != nil {
		k.Error(err)
	}
}

// Get returns an object; absent if it does not exist. kind is GROUP/RESOURCE, with the group core for the core group.
func (k *Kit) Get(kind, namespace, name string) document.Value {
	k.Helper()
	object, err := k.Registry.Cache.Get(k.Context(), watchcache.Key{Kind: kind, Namespace: namespace, Name: name}, watchcache.Latest)
	if err != nil {
		return document.Value{}
	}
	parsed, err := object.Parsed()
	if err != nil {
		k.Fatal(err)
	}
	return parsed.Document
}

// Has reports whether an object exists. kind is GROUP/RESOURCE as for Get.
func (k *Kit) Has(kind, namespace, name string) bool {
	k.Helper()
	return !k.Get(kind, namespace, name).IsAbsent()
}

// Run runs a function in a goroutine. Its context is cancelled when stop is called or the test ends; stop waits until the
// function has returned.
func (k *Kit) Run(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	stop = func() { cancel(); running.Wait() }
	k.Cleanup(stop)
	return stop
}

// Wait waits until condition returns true. If that takes too long, it fails the test with a message that contains description.
func (k *Kit) Wait(description string, condition func() bool) {
	k.Helper()
	testwait.For(k, description, condition)
}
