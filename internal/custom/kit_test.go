package custom

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// kit is objects in memory, among them definitions.
type kit struct {
	*testing.T
	all *objects.Objects
	// controller has been loaded; stop ends it.
	controller *Controller
	stop       func()
	// ahead is how much later it is here than elsewhere.
	ahead atomic.Int64
}

// open returns a server's objects over a store, and follows definitions.
func open(t *testing.T, over store.Store) *kit {
	t.Helper()
	webhooks, err := NewWebhooks()
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, over, webhooks)
}

func openWith(t *testing.T, over store.Store, webhooks Webhooks) *kit {
	t.Helper()
	return openFor(t, over, webhooks, times{hold: conversionTime, first: time.Millisecond, last: 20 * time.Millisecond})
}

func openFor(t *testing.T, over store.Store, webhooks Webhooks, waits times) *kit {
	t.Helper()
	register, err := kinds.NewRegister(append(kinds.Builtin(), Kind())...)
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{T: t}
	k.all = objects.New(objects.Options{Cache: cachetest.Over(t, over), Kinds: register, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(time.Duration(k.ahead.Load())) }})
	k.all.Extras = map[string]objects.Extra{Definitions: Extra(k.all.Now)}
	k.controller = &Controller{Objects: k.all, Webhooks: webhooks, Manager: "system", Log: slog.New(slog.DiscardHandler), times: waits}
	if err := k.controller.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.controller.Run(ctx)
	}()
	k.stop = func() { cancel(); <-done }
	t.Cleanup(k.stop)
	return k
}

func (k *kit) endpoint(group, version, resource, subresource string) *objects.Endpoint {
	k.Helper()
	kind, ok := k.all.Kinds.Resource(group, version, resource)
	if !ok {
		k.Fatalf("%s of %s is not served at %s", resource, group, version)
	}
	endpoint, err := k.all.Endpoint(kind, version, subresource)
	if err != nil {
		k.Fatal(err)
	}
	return endpoint
}

func (k *kit) request(e *objects.Endpoint, name, body string) *objects.Request {
	r := &objects.Request{
		Endpoint: e, Name: name, Body: objects.Body{Text: body, YAML: true},
		User: &identity.User{Name: "tester"}, Manager: "tester", Warn: func(string) {},
	}
	return r
}

// define creates a definition of a kind in no namespace, and waits until it is established.
func (k *kit) define(plural, kind, versions, more string) {
	k.Helper()
	body := fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.example.com},
  spec: {group: example.com, scope: Cluster, names: {plural: %s, kind: %s}, versions: [%s]%s}}`, plural, plural, kind, versions, more)
	if _, err := k.all.Create(k.Context(), k.request(k.endpoint(definitionsGroup, "v1", definitionsName, ""), "", body)); err != nil {
		k.Fatal(err)
	}
}

func (k *kit) defineWidgets(versions, more string) {
	k.Helper()
	k.define("widgets", "Widget", versions, more)
	k.waitCondition("widgets", established, "True")
}

const anything = `schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`

func (k *kit) definition(plural string) document.Value {
	k.Helper()
	return k.get(Definitions, plural+".example.com")
}

// get returns an object as it is stored; absent if there is none.
func (k *kit) get(kind, name string) document.Value {
	k.Helper()
	object, err := k.all.Cache.Get(k.Context(), cache.Key{Kind: kind, Name: name}, cache.Latest)
	if err != nil {
		return document.Value{}
	}
	parsed, err := object.Parsed()
	if err != nil {
		k.Fatal(err)
	}
	return parsed.Document
}

// shown returns a widget as it is shown at a version.
func (k *kit) shown(version, name string) (document.Value, error) {
	k.Helper()
	object, err := k.all.Cache.Get(k.Context(), cache.Key{Kind: "example.com/widgets", Name: name}, cache.Latest)
	if err != nil {
		return document.Value{}, err
	}
	at, err := k.all.At(k.endpoint("example.com", version, "widgets", ""), object)
	if err != nil {
		return document.Value{}, err
	}
	return document.ParseJSON(at.AppendJSON(nil))
}

func (k *kit) waitCondition(plural, name, status string) {
	k.Helper()
	k.wait(fmt.Sprintf("%s: %s is %s", plural, name, status), func() bool {
		return read(k.definition(plural)).condition(name).Get("status").Text() == status
	})
}

// wait waits until something is so.
func (k *kit) wait(what string, isSo func() bool) {
	k.Helper()
	for deadline := time.Now().Add(30 * time.Second); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			k.Fatalf("waited in vain: %s", what)
		}
	}
}

func (k *kit) create(version, name, fields string) error {
	body := fmt.Sprintf(`{apiVersion: example.com/%s, kind: Widget, metadata: {name: %s}%s}`, version, name, fields)
	_, err := k.all.Create(k.Context(), k.request(k.endpoint("example.com", version, "widgets", ""), "", body))
	return err
}

func (k *kit) mustCreate(version, name, fields string) {
	k.Helper()
	if err := k.create(version, name, fields); err != nil {
		k.Fatal(err)
	}
}

func (k *kit) merge(e *objects.Endpoint, name, patch string) error {
	r := k.request(e, name, patch)
	_, err := k.all.Patch(k.Context(), r, objects.MergePatch)
	return err
}

func (k *kit) mergeDefinition(plural, patch string) {
	k.Helper()
	if err := k.merge(k.endpoint(definitionsGroup, "v1", definitionsName, ""), plural+".example.com", patch); err != nil {
		k.Fatal(err)
	}
}
