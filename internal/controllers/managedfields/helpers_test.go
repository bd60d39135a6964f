package managedfields_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const (
	// twoItems are values for crdtest.ListAndMap. itemsByName, itemsByID and itemsAtomic are the field sets that own
	// them with different topologies.
	twoItems    = `"list":[{"name":"a","id":"1","num":7},{"name":"b","id":"2"}],"map":{"x":1,"z":2}`
	itemsByName = `"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"name\":\"b\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`
	itemsByID   = `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`
	itemsAtomic = `"f:list":{},"f:map":{}`

	// mapAtomic and mapGranular own the map {x: 1} of crdtest.TwoMaps.
	mapAtomic   = `"f:map":{}`
	mapGranular = `"f:map":{"f:x":{}}`
)

// kit is a server with helpers for the state of migrations.
type kit struct{ *crdtest.Kit }

func open(t *testing.T, over storage.Store) *kit {
	t.Helper()
	return &kit{crdtest.Open(t, over)}
}

func openWith(t *testing.T, over storage.Store, webhooks crd.Webhooks) *kit {
	t.Helper()
	return &kit{crdtest.OpenWith(t, over, webhooks)}
}

func openOptions(t *testing.T, over storage.Store, webhooks crd.Webhooks, options managedfields.Options) *kit {
	t.Helper()
	return &kit{crdtest.OpenOptions(t, over, webhooks, options)}
}

// openConverted returns a server whose widgets are those of crdtest.TwoMaps with an atomic map, converted by webhooks.
func openConverted(t *testing.T, over storage.Store) (*kit, *crdtest.Webhooks) {
	t.Helper()
	webhooks := &crdtest.Webhooks{}
	k := openWith(t, over, webhooks)
	k.defineConverted()
	return k, webhooks
}

func (k *kit) defineConverted() {
	k.Helper()
	k.DefineWidgets(crdtest.TwoMaps(crdtest.AtomicMap), ","+crdtest.ConversionBy("first"))
}

// records returns the number of persisted records of a kind.
func (k *kit) records(kind string) int {
	k.Helper()
	list, err := k.Objects.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}, Freshness: watchcache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

func (k *kit) previousGenerations() int { return k.records(managedfields.GenerationRecords) }

// history returns the persisted state of the definition of widgets.
func (k *kit) history() managedfields.History {
	k.Helper()
	h, err := managedfields.ReadHistory(k.Context(), k.Objects.Cache, k.Parsed("widgets"))
	if err != nil {
		k.Fatal(err)
	}
	return h
}

// waitFinished waits until no state is persisted any more.
func (k *kit) waitFinished() {
	k.Helper()
	k.Wait("no migration state is persisted", func() bool {
		return k.previousGenerations() == 0 && k.records(managedfields.PendingRecords) == 0
	})
}

// waitOwned waits until the managedFields of a widget contain a field set.
func (k *kit) waitOwned(name, fields string) {
	k.Helper()
	k.Wait(name+" has "+fields, func() bool { return strings.Contains(k.ManagedFields("v1", name), fields) })
}

// wantOwned checks that the managedFields of a widget contain a field set.
func (k *kit) wantOwned(name, fields string) {
	k.Helper()
	if got := k.ManagedFields("v1", name); !strings.Contains(got, fields) {
		k.Errorf("managedFields of %s = %s, want %s", name, got, fields)
	}
}

// wantAllMigrated checks the widgets w0, w1, … of crdtest.TwoMaps.
func (k *kit) wantAllMigrated(n int) {
	k.Helper()
	for i := range n {
		name := fmt.Sprint("w", i)
		if got := k.ManagedFields("v1", name); !strings.Contains(got, mapGranular) {
			k.Fatalf("managedFields of %s = %s, want %s", name, got, mapGranular)
		}
	}
}

// wantBlocked checks that a write of a widget times out.
func (k *kit) wantBlocked() {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), 50*time.Millisecond)
	defer cancel()
	if err := k.ApplyAs(ctx, "tester", "v1", "one", ""); !apierrors.IsTimeout(err) {
		k.Errorf("ApplyAs() = %v, want a timeout", err)
	}
}

// unserved returns versions of which the first is not served.
func unserved(versions string) string {
	return strings.Replace(versions, `"served":true`, `"served":false`, 1)
}
