package garbagecollector

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
)

// kit is a registry with a running collector.
type kit struct {
	*registrytest.Kit
	collector *Collector
	stop      func()
}

// open returns a kit on an empty in-memory store.
func open(t testing.TB) *kit {
	t.Helper()
	k := &kit{Kit: registrytest.Open(t)}
	k.start()
	return k
}

// openOn returns a kit on a store.
func openOn(t testing.TB, s storage.Store) *kit {
	t.Helper()
	k := &kit{Kit: registrytest.OpenStore(t, s)}
	k.start()
	return k
}

// start runs a new collector until stop is called or the test ends.
func (k *kit) start() {
	k.collector = &Collector{Objects: k.Registry, User: registrytest.User, Manager: "collector", Log: registrytest.Log}
	k.stop = k.Run(k.collector.Run)
}

// ownerRef returns an ownerReference, in JSON, to an object of the core group.
func ownerRef(kind, name, uid string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"name":%q,"uid":%q}`, kind, name, uid)
}

// blockingRef returns an ownerReference, in JSON, to an object of the core group, with blockOwnerDeletion.
func blockingRef(kind, name, uid string) string {
	return strings.TrimSuffix(ownerRef(kind, name, uid), "}") + `,"blockOwnerDeletion":true}`
}

// object returns the JSON of an object with ownerReferences.
func object(name string, references ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, strings.Join(references, ","))
}

// withFinalizer returns the JSON of an object with a finalizer and ownerReferences.
func withFinalizer(name, finalizer string, references ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":[%q],"ownerReferences":[%s]}}`, name, finalizer, strings.Join(references, ","))
}

const (
	configMaps = "core/configmaps"
	secrets    = "core/secrets"
)

func (k *kit) waitDeleted(kind, namespace, name string) {
	k.Helper()
	k.Wait(fmt.Sprintf("%s %s/%s to be deleted", kind, namespace, name), func() bool { return !k.Has(kind, namespace, name) })
}

// settle waits until the collector has processed its workqueue: it creates an object whose owner does not exist, and waits
// until the collector has deleted it.
func (k *kit) settle() {
	k.Helper()
	for range 3 { // repeated, because the processing of an object may enqueue further objects
		name := fmt.Sprint("last-", time.Now().UnixNano())
		k.Create("configmaps", "default", object(name, ownerRef("ConfigMap", "absent", "none")))
		k.waitDeleted(configMaps, "default", name)
	}
}

// wantExists waits until the collector has processed its workqueue, and fails the test unless the object still exists.
func (k *kit) wantExists(kind, namespace, name string) {
	k.Helper()
	k.settle()
	if !k.Has(kind, namespace, name) {
		k.Errorf("%s %s/%s was deleted, want it to exist", kind, namespace, name)
	}
}

// owners returns the UIDs in an object's ownerReferences.
func (k *kit) owners(kind, namespace, name string) (uids []string) {
	k.Helper()
	for _, r := range k.Get(kind, namespace, name).Lookup("metadata", "ownerReferences").Items() {
		uids = append(uids, r.Get("uid").Text())
	}
	return uids
}

// wantEmptyIndex waits until the collector has processed its workqueue, and fails the test unless the index of owners is
// empty.
func (k *kit) wantEmptyIndex() {
	k.Helper()
	k.settle()
	k.collector.index.mu.Lock()
	defer k.collector.index.mu.Unlock()
	if n := len(k.collector.index.byOwner); n > 0 {
		k.Errorf("number of owners in the collector's index = %d, want 0", n)
	}
}
