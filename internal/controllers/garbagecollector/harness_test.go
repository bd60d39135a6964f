package garbagecollector

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
)

// kit is objects, and a collector.
type kit struct {
	*registrytest.Kit
	collector *Collector
	stop      func()
}

// open returns objects whose garbage is collected.
func open(t testing.TB) *kit {
	t.Helper()
	k := &kit{Kit: registrytest.Open(t)}
	k.start()
	return k
}

func over(t testing.TB, s storage.Store) *kit {
	t.Helper()
	k := &kit{Kit: registrytest.Over(t, s)}
	k.start()
	return k
}

// start collects garbage until stop.
func (k *kit) start() {
	k.collector = &Collector{Objects: k.All, User: registrytest.User, Manager: "collector", Log: registrytest.Log}
	k.stop = k.Run(k.collector.Run)
}

// ref is an owner reference to something of the core.
func ref(kind, name, uid string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"name":%q,"uid":%q}`, kind, name, uid)
}

// blocking is one that blocks its owner.
func blocking(kind, name, uid string) string {
	return strings.TrimSuffix(ref(kind, name, uid), "}") + `,"blockOwnerDeletion":true}`
}

// object is the body of one with owners.
func object(name string, references ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, strings.Join(references, ","))
}

// held is the body of one with a finalizer and owners.
func held(name, finalizer string, references ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":[%q],"ownerReferences":[%s]}}`, name, finalizer, strings.Join(references, ","))
}

const (
	configMaps = "core/configmaps"
	secrets    = "core/secrets"
)

func (k *kit) waitGone(kind, namespace, name string) {
	k.Helper()
	k.Wait(fmt.Sprintf("%s %s/%s goes", kind, namespace, name), func() bool { return !k.Has(kind, namespace, name) })
}

// settle waits until the collector has nothing to do: it has judged something that came after all else.
func (k *kit) settle() {
	k.Helper()
	for range 3 { // a judgement may make another one necessary
		name := fmt.Sprint("last-", time.Now().UnixNano())
		k.Create("configmaps", "default", object(name, ref("ConfigMap", "nobody", "none")))
		k.waitGone(configMaps, "default", name)
	}
}

// wantThere fails unless an object is there when the collector has nothing left to do.
func (k *kit) wantThere(kind, namespace, name string) {
	k.Helper()
	k.settle()
	if !k.Has(kind, namespace, name) {
		k.Errorf("%s %s/%s is gone", kind, namespace, name)
	}
}

// owners returns the uids that an object's references have.
func (k *kit) owners(kind, namespace, name string) (uids []string) {
	k.Helper()
	for _, r := range k.Get(kind, namespace, name).Lookup("metadata", "ownerReferences").Items() {
		uids = append(uids, r.Get("uid").Text())
	}
	return uids
}

// wantEmpty fails unless the index has been left as it was found.
func (k *kit) wantEmpty() {
	k.Helper()
	k.settle()
	k.collector.index.mu.Lock()
	defer k.collector.index.mu.Unlock()
	if n := len(k.collector.index.byOwner); n > 0 {
		k.Errorf("%d owners are still known, want none", n)
	}
}
