package app

import (
	"context"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage/pebble"
)

// sharedStore is a store whose IsShared method returns true. Its Close does nothing.
type sharedStore struct{ *pebble.Store }

func (sharedStore) IsShared() bool { return true }
func (sharedStore) Close() error   { return nil }

// TestSharedStore checks that servers that share a store observe writes and CustomResourceDefinitions of other servers, and
// that only the holder of the Lease runs the controllers. When the holder stops, another server takes over.
func TestSharedStore(t *testing.T) {
	one, err := pebble.Open(pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := one.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := Start(t.Context(), Config{Store: sharedStore{one}, Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	first, lease := clientOf(t, s), "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cadastre-controllers"
	holder := first.waitFor(lease, 200, `"holderIdentity"`).get("spec", "holderIdentity")
	second := start(t, Config{Store: sharedStore{one}})

	second.define()
	first.waitFor("/apis/example.com/v1/widgets", 200)
	uid := second.call("POST", configMaps, configMap("owner")).want(201).get("metadata", "uid")
	second.call("POST", configMaps, ownedBy("child", "owner", uid)).want(201)
	second.call("DELETE", configMaps+"/owner?propagationPolicy=Foreground", "").want(200)
	second.waitFor(configMaps+"/owner", 404)
	second.call("GET", configMaps+"/child", "").want(404)
	if now := second.call("GET", lease, "").want(200).get("spec", "holderIdentity"); now != holder {
		t.Errorf("holderIdentity of the Lease: received %s, want %s", now, holder)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	second.call("POST", configMaps, ownedBy("lost", "nobody", "0")).want(201)
	second.waitFor(configMaps+"/lost", 404)
	record := second.call("GET", lease, "").want(200)
	if now := record.get("spec", "holderIdentity"); now == holder || now == "" {
		t.Errorf("holderIdentity of the Lease after its holder stopped: received %q, want another than %s", now, holder)
	}
	if got := record.get("spec", "leaseTransitions"); got != "1" {
		t.Errorf("leaseTransitions: received %s, want 1", got)
	}
}
