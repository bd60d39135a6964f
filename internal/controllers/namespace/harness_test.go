package namespace

import (
	"context"
	"fmt"
	"log/slog"
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

// kit is a registry on an in-memory store. Its methods fail the test on errors.
type kit struct {
	*testing.T
	all *registry.Registry
}

// open returns a kit without a running controller. If beforeCommit is not nil, it is called before each commit to the store.
func open(t *testing.T, beforeCommit func([]storage.Write)) *kit {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := watchcachetest.OpenOn(t, hookedStore{watchcachetest.OpenStore(t), beforeCommit})
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	return &kit{t, registry.New(registry.Options{Cache: c, Kinds: register, Admission: admission.NewChain(namespacelifecycle.Plugin{}), Log: log})}
}

// hookedStore is a store that calls the function beforeCommit, if it is not nil, before each commit.
type hookedStore struct {
	storage.Store
	beforeCommit func([]storage.Write)
}

func (h hookedStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if h.beforeCommit != nil {
		h.beforeCommit(writes)
	}
	return h.Store.Commit(ctx, writes...)
}

// controller returns a controller that is not running.
func (k *kit) controller() *Controller {
	return &Controller{Objects: k.all, User: &authn.User{Name: "system"}, Manager: "namespace-controller", Log: slog.New(slog.DiscardHandler)}
}

// run runs a controller until the end of the test, or until stop is called.
func (k *kit) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.controller().Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	k.Cleanup(stop)
	return stop
}

func (k *kit) endpoint(resource string) *registry.Endpoint {
	kind, _ := k.all.Kinds.Resource("", "v1", resource)
	endpoint, err := k.all.Endpoint(kind, "v1", "")
	if err != nil {
		panic(err)
	}
	return endpoint
}

func (k *kit) request(resource, namespace, name, body string) *registry.Request {
	return &registry.Request{
		Endpoint: k.endpoint(resource), Namespace: namespace, Name: name, Body: registry.Body{Text: body},
		User: &authn.User{Name: "tester"}, Manager: "tester", Warn: func(string) {},
	}
}

func (k *kit) create(resource, namespace, body string) error {
	_, err := k.all.Create(k.Context(), k.request(resource, namespace, "", body))
	return err
}

func (k *kit) mustCreate(resource, namespace, body string) {
	k.Helper()
	if err := k.create(resource, namespace, body); err != nil {
		k.Fatal(err)
	}
}

func named(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }

func withFinalizer(name, finalizer string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":[%q]}}`, name, finalizer)
}

func (k *kit) delete(resource, namespace, name string) error {
	_, err := k.all.Delete(k.Context(), &registry.Deletion{Endpoint: k.endpoint(resource), Namespace: namespace, Name: name})
	return err
}

func (k *kit) mustDelete(resource, namespace, name string) {
	k.Helper()
	if err := k.delete(resource, namespace, name); err != nil {
		k.Fatal(err)
	}
}

// merge applies a JSON merge patch to an object; an error fails the test.
func (k *kit) merge(resource, namespace, name, patch string) {
	k.Helper()
	r := k.request(resource, namespace, name, patch)
	if _, err := k.all.Patch(k.Context(), r, registry.MergePatch); err != nil {
		k.Error(err)
	}
}

// get returns an object as it is stored; absent if there is none.
func (k *kit) get(kind, namespace, name string) document.Value {
	k.Helper()
	object, err := k.all.Cache.Get(k.Context(), watchcache.Key{Kind: kind, Namespace: namespace, Name: name}, watchcache.Latest)
	if err != nil {
		return document.Value{}
	}
	parsed, err := object.Parsed()
	if err != nil {
		k.Fatal(err)
	}
	return parsed.Document
}

// wait polls until holds returns true, and fails the test after testwait.Timeout.
func (k *kit) wait(condition string, holds func() bool) {
	k.Helper()
	if !testwait.Within(testwait.Timeout, holds) {
		k.Errorf("timed out after %v waiting for %s", testwait.Timeout, condition)
	}
}

func (k *kit) waitDeleted(namespace string) {
	k.Helper()
	k.wait("namespace "+namespace+" to be deleted", func() bool { return k.get(Kind, "", namespace).IsAbsent() })
}

// isRejected reports whether a creation was rejected because the namespace is terminating or does not exist.
func isRejected(err error) bool {
	return apierrors.HasStatusCause(err, "NamespaceTerminating") && apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
}
