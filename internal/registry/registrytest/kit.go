// Package objectstest has objects for the tests of what stands on them: in memory, silent, and gone with the
// test.
package objectstest

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// Kit is objects, and a test that works with them.
type Kit struct {
	testing.TB
	All *objects.Objects
}

// User is who a test acts as, and as whom controllers may.
var User = &identity.User{Name: "tester", Groups: []string{identity.MastersGroup}}

// Log is a log that nobody reads.
var Log = slog.New(slog.DiscardHandler)

// Open returns the built-in kinds without an object, save for the namespaces default and kube-system.
func Open(t testing.TB) *Kit {
	t.Helper()
	return Over(t, cachetest.OpenStore(t))
}

// Over returns the objects of a store.
func Over(t testing.TB, s store.Store) *Kit {
	t.Helper()
	register, err := kinds.NewRegister(kinds.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	k := &Kit{t, objects.New(objects.Options{Cache: cachetest.Over(t, s), Kinds: register, Log: Log})}
	for _, name := range []string{"default", "kube-system"} {
		_, err := k.TryCreate("namespaces", "", `{"metadata":{"name":"`+name+`"}}`)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	return k
}

// Hooked is a store in which something happens before each commit.
type Hooked struct {
	store.Store
	Before func([]store.Write)
}

// Commit has it happen, and commits.
func (h Hooked) Commit(ctx context.Context, writes ...store.Write) (store.Revision, error) {
	if h.Before != nil {
		h.Before(writes)
	}
	return h.Store.Commit(ctx, writes...)
}

// Endpoint is where objects of a kind are written: RESOURCE or RESOURCE.GROUP, at its first version.
func (k *Kit) Endpoint(resource string) *objects.Endpoint {
	k.Helper()
	name, group, _ := strings.Cut(resource, ".")
	kind, _ := k.All.Kinds.Resource(group, "", name)
	if kind == nil {
		k.Fatalf("there is no kind %s", resource)
	}
	endpoint, err := k.All.Endpoint(kind, kind.Versions[0], "")
	if err != nil {
		k.Fatal(err)
	}
	return endpoint
}

// Request returns one by the tester.
func (k *Kit) Request(resource, namespace, name, body string) *objects.Request {
	k.Helper()
	return &objects.Request{
		Endpoint: k.Endpoint(resource), Namespace: namespace, Name: name, Body: objects.Body{Text: body},
		User: User, Manager: User.Name, Warn: func(string) {},
	}
}

// TryCreate creates an object and returns its uid, or says why not.
func (k *Kit) TryCreate(resource, namespace, body string) (uid string, err error) {
	k.Helper()
	result, err := k.All.Create(k.Context(), k.Request(resource, namespace, "", body))
	if err != nil {
		return "", err
	}
	return strings.Clone(result.Object.UID()), nil
}

// Create creates an object and returns its uid.
func (k *Kit) Create(resource, namespace, body string) (uid string) {
	k.Helper()
	uid, err := k.TryCreate(resource, namespace, body)
	if err != nil {
		k.Fatal(err)
	}
	return uid
}

// Delete deletes an object.
func (k *Kit) Delete(resource, namespace, name string, dependants objects.Propagation) {
	k.Helper()
	d := &objects.Deletion{Endpoint: k.Endpoint(resource), Namespace: namespace, Name: name, Dependants: dependants}
	if _, err := k.All.Delete(k.Context(), d); err != nil {
		k.Fatal(err)
	}
}

// Merge patches an object.
func (k *Kit) Merge(resource, namespace, name, patch string) {
	k.Helper()
	if _, err := k.All.Patch(k.Context(), k.Request(resource, namespace, name, patch), objects.MergePatch); err != nil {
		k.Error(err)
	}
}

// Get returns an object by the name of its kind in keys; absent if there is none.
func (k *Kit) Get(kind, namespace, name string) document.Value {
	k.Helper()
	object, err := k.All.Cache.Get(k.Context(), cache.Key{Kind: kind, Namespace: namespace, Name: name}, cache.Latest)
	if err != nil {
		return document.Value{}
	}
	parsed, err := object.Parsed()
	if err != nil {
		k.Fatal(err)
	}
	return parsed.Document
}

// Has reports whether there is an object.
func (k *Kit) Has(kind, namespace, name string) bool {
	k.Helper()
	return !k.Get(kind, namespace, name).IsAbsent()
}

// Run runs something until the test ends, or stop is called.
func (k *Kit) Run(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	stop = func() { cancel(); running.Wait() }
	k.Cleanup(stop)
	return stop
}

// Wait waits until something is so.
func (k *Kit) Wait(what string, isSo func() bool) {
	k.Helper()
	for deadline := time.Now().Add(60 * time.Second); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			k.Fatalf("waited in vain: %s", what)
		}
	}
}
