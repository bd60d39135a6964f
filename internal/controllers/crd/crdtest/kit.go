// Package crdtest runs the CustomResourceDefinition controllers on a store in tests, and provides fake conversion
// webhooks and schemas. Most tests use the cluster-scoped custom resource Widget of group example.com.
package crdtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/plugin/namespacelifecycle"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/auth/authn"
	crdcontroller "github.com/cadastre/cadastre/internal/controllers/crd"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// Widgets is the name of the resource widgets in the watch cache, in the form GROUP/RESOURCE.
const Widgets = "example.com/widgets"

// Kit is an API server without HTTP for tests: the registry and the controllers of CustomResourceDefinitions. Its methods
// fail the embedded testing.T.
type Kit struct {
	*testing.T
	Objects *registry.Registry
	// Stop stops the controllers and waits for them. Objects can be read and written afterwards.
	Stop func()
	// ClockOffset is the difference, in nanoseconds, between the server's clock and the real time.
	ClockOffset atomic.Int64
}

// Open runs a Kit on a store until the end of the test. It calls conversion webhooks over HTTP.
func Open(t *testing.T, store storage.Store) *Kit {
	t.Helper()
	webhooks, err := crd.NewWebhooks()
	if err != nil {
		t.Fatal(err)
	}
	return OpenWith(t, store, webhooks)
}

// OpenWith is like Open, with the given client for conversion webhooks, and with short backoffs.
func OpenWith(t *testing.T, store storage.Store, webhooks crd.Webhooks) *Kit {
	t.Helper()
	return OpenOptions(t, store, webhooks, managedfields.Options{MinBackoff: time.Millisecond, MaxBackoff: 20 * time.Millisecond})
}

// OpenOptions is like OpenWith, with the given options of the managed fields migrator. It sets options.Objects and options.Log
// itself.
func OpenOptions(t *testing.T, store storage.Store, webhooks crd.Webhooks, options managedfields.Options) *Kit {
	t.Helper()
	register, err := api.NewRegister(append(api.Builtin(), crd.Kind())...)
	if err != nil {
		t.Fatal(err)
	}
	k := &Kit{T: t}
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return time.Now().Add(time.Duration(k.ClockOffset.Load())) }
	k.Objects = registry.New(registry.Options{
		Cache: watchcachetest.OpenOn(t, store), Kinds: register, Log: log, Now: now,
		Admission: admission.NewChain(namespacelifecycle.Plugin{}), Strategies: map[string]registry.Strategy{crd.Definitions: crdcontroller.Strategy(now)},
	})
	options.Objects, options.Log = k.Objects, log
	migrator := managedfields.New(options)
	controller := crdcontroller.New(crdcontroller.Options{Objects: k.Objects, Webhooks: webhooks, Migrator: migrator, Manager: "system", Log: log})
	if err := controller.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { migrator.Run(ctx) })
	running.Go(func() { controller.Run(ctx) })
	k.Stop = func() { cancel(); running.Wait() }
	t.Cleanup(k.Stop)
	return k
}

// Endpoint returns the endpoint of a resource or of its subresource at a version. The test fails if the resource is not
// served.
func (k *Kit) Endpoint(group, version, resource, subresource string) *registry.Endpoint {
	k.Helper()
	kind, ok := k.Objects.Kinds.Resource(group, version, resource)
	if !ok {
		k.Fatalf("%s of %s is not served at %s", resource, group, version)
	}
	endpoint, err := k.Objects.Endpoint(kind, version, subresource)
	if err != nil {
		k.Fatal(err)
	}
	return endpoint
}

// Widgets returns the endpoint of widgets at a version.
func (k *Kit) Widgets(version string) *registry.Endpoint {
	k.Helper()
	return k.Endpoint("example.com", version, "widgets", "")
}

// Definitions returns the endpoint of CustomResourceDefinitions, or of a subresource of them if subresource is not "".
func (k *Kit) Definitions(subresource string) *registry.Endpoint {
	k.Helper()
	return k.Endpoint(crd.DefinitionsGroup, "v1", crd.DefinitionsResource, subresource)
}

// Request returns a write request with a YAML body. User and field manager are "tester".
func (k *Kit) Request(e *registry.Endpoint, name, body string) *registry.Request {
	return &registry.Request{
		Endpoint: e, Name: name, Body: registry.Body{Text: body, YAML: true},
		User: &authn.User{Name: "tester"}, Manager: "tester", Warn: func(string) {},
	}
}

// Define creates a CustomResourceDefinition of a cluster-scoped resource in group example.com. versions are the items of
// spec.versions; more, in YAML and with a leading comma, is appended to the spec.
func (k *Kit) Define(plural, kind, versions, more string) {
	k.Helper()
	body := fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.example.com},
  spec: {group: example.com, scope: Cluster, names: {plural: %s, kind: %s}, versions: [%s]%s}}`, plural, plural, kind, versions, more)
	if _, err := k.Objects.Create(k.Context(), k.Request(k.Definitions(""), "", body)); err != nil {
		k.Fatal(err)
	}
}

// DefineWidgets creates the CustomResourceDefinition of widgets and waits until it is established. The arguments are
// those of Define.
func (k *Kit) DefineWidgets(versions, more string) {
	k.Helper()
	k.Define("widgets", "Widget", versions, more)
	k.WaitCondition("widgets", crd.Established, "True")
}

// Definition returns the CustomResourceDefinition of a resource of example.com as it is stored; absent if there is none.
func (k *Kit) Definition(plural string) document.Value {
	k.Helper()
	return k.Get(crd.Definitions, plural+".example.com")
}

// Parsed returns the parsed CustomResourceDefinition of a resource of example.com.
func (k *Kit) Parsed(plural string) *crd.Definition {
	k.Helper()
	return crd.Parse(k.Definition(plural))
}

// Get returns a cluster-scoped object as it is stored; absent if there is none.
func (k *Kit) Get(kind, name string) document.Value {
	k.Helper()
	object, err := k.Objects.Cache.Get(k.Context(), watchcache.Key{Kind: kind, Name: name}, watchcache.Latest)
	if err != nil {
		return document.Value{}
	}
	parsed, err := object.Parsed()
	if err != nil {
		k.Fatal(err)
	}
	return parsed.Document
}

// Served returns a widget as a client would read it at a version.
func (k *Kit) Served(version, name string) (document.Value, error) {
	k.Helper()
	object, err := k.Objects.Cache.Get(k.Context(), watchcache.Key{Kind: Widgets, Name: name}, watchcache.Latest)
	if err != nil {
		return document.Value{}, err
	}
	at, err := k.Objects.At(k.Widgets(version), object)
	if err != nil {
		return document.Value{}, err
	}
	return document.ParseJSON(at.AppendJSON(nil))
}

// ManagedFields returns the managedFields of a widget, in JSON, as a client would read them at a version.
func (k *Kit) ManagedFields(version, name string) string {
	k.Helper()
	doc, err := k.Served(version, name)
	if err != nil {
		k.Fatal(err)
	}
	return doc.Lookup("metadata", "managedFields").JSON()
}

// WaitCondition waits until a condition of a CRD has the given status.
func (k *Kit) WaitCondition(plural, condition, status string) {
	k.Helper()
	k.Wait(fmt.Sprintf("%s: %s is %s", plural, condition, status), func() bool { return k.Parsed(plural).HasStatus(condition, status) })
}

// WaitReplaced waits until a changed CRD of widgets is served: until the current endpoint differs from the endpoint old.
func (k *Kit) WaitReplaced(old *registry.Endpoint) {
	k.Helper()
	k.Wait("the kind is replaced", func() bool { return k.Widgets(old.Version) != old })
}

// Wait polls until holds returns true. It fails the test after 30 seconds, with condition as description.
func (k *Kit) Wait(condition string, holds func() bool) {
	k.Helper()
	testwait.For(k, condition, holds)
}

// Create creates a widget. fields, in YAML and with a leading comma unless empty, are the fields after metadata.
func (k *Kit) Create(version, name, fields string) error {
	body := fmt.Sprintf(`{apiVersion: example.com/%s, kind: Widget, metadata: {name: %s}%s}`, version, name, fields)
	_, err := k.Objects.Create(k.Context(), k.Request(k.Widgets(version), "", body))
	return err
}

// MustCreate is like Create; an error fails the test.
func (k *Kit) MustCreate(version, name, fields string) {
	k.Helper()
	if err := k.Create(version, name, fields); err != nil {
		k.Fatal(err)
	}
}

// ApplyAs applies a widget as a field manager. fields are JSON members without braces. An apply that fails because the
// kind was replaced is retried.
func (k *Kit) ApplyAs(ctx context.Context, manager, version, name, fields string) error {
	k.Helper()
	if fields != "" {
		fields = "," + fields
	}
	body := fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":%q}%s}`, version, name, fields)
	for {
		r := k.Request(k.Widgets(version), name, body)
		r.Manager = manager
		if _, err := k.Objects.Apply(ctx, r); !errors.Is(err, registry.ErrReplaced) {
			return err
		}
	}
}

// MustApply applies a widget at v1 as the field manager "tester"; an error fails the test.
func (k *Kit) MustApply(name, fields string) {
	k.Helper()
	k.MustApplyAs("tester", "v1", name, fields)
}

// MustApplyAs is like ApplyAs; an error fails the test.
func (k *Kit) MustApplyAs(manager, version, name, fields string) {
	k.Helper()
	if err := k.ApplyAs(k.Context(), manager, version, name, fields); err != nil {
		k.Fatal(err)
	}
}

// Merge applies a JSON merge patch to an object.
func (k *Kit) Merge(e *registry.Endpoint, name, patch string) error {
	_, err := k.Objects.Patch(k.Context(), k.Request(e, name, patch), registry.MergePatch)
	return err
}

// MergeDefinition applies a JSON merge patch to the CustomResourceDefinition of a resource of example.com; an error fails
// the test.
func (k *Kit) MergeDefinition(plural, patch string) {
	k.Helper()
	if err := k.Merge(k.Definitions(""), plural+".example.com", patch); err != nil {
		k.Fatal(err)
	}
}

// MergeVersions replaces spec.versions in the CustomResourceDefinition of widgets. versions are JSON objects, separated
// by commas.
func (k *Kit) MergeVersions(versions string) {
	k.Helper()
	k.MergeDefinition("widgets", `{"spec":{"versions":[`+versions+`]}}`)
}
