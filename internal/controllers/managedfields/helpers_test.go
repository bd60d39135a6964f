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
	// twoItems are the fields of a widget of crdtest.ListAndMap. itemsByName, itemsByID and itemsAtomic are the field sets,
	// as members of fieldsV1, of a manager that applied twoItems, for each list type.
	twoItems    = `"list":[{"name":"a","id":"1","num":7},{"name":"b","id":"2"}],"map":{"x":1,"z":2}`
	itemsByName = `"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"name\":\"b\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`
	itemsByID   = `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`
	itemsAtomic = `"f:list":{},"f:map":{}`

	// mapAtomic and mapGranular are the field sets, as members of fieldsV1, that own the map {x: 1} of crdtest.TwoMaps if
	// the map is atomic or granular.
	mapAtomic   = `"f:map":{}`
	mapGranular = `"f:map":{"f:x":{}}`
)

// kit is a crdtest.Kit with helpers that read the state of migrations.
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

// openConverted returns a server with the widgets of crdtest.TwoMaps, whose maps are atomic, and the fake conversion
// webhook that converts them.
func openConverted(t *testing.T, over storage.Store) (*kit, *crdtest.Webhooks) {
	t.Helper()
	webhooks := &crdtest.Webhooks{}
	k := openWith(t, over, webhooks)
	k.defineConverted()
	return k, webhooks
}

// defineConverted creates the CRD of the widgets of crdtest.TwoMaps with atomic maps and a conversion webhook.
func (k *kit) defineConverted() {
	k.Helper()
	k.DefineWidgets(crdtest.TwoMaps(crdtest.AtomicMap), ","+crdtest.ConversionBy("first"))
}

// records returns the number of stored records with a key prefix, GenerationRecords or PendingRecords.
func (k *kit) records(kind string) int {
	k.Helper()
	list, err := k.Objects.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}, Freshness: watchcache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

func (k *kit) previousGenerations() int { return k.records(managedfields.GenerationRecords) }

// history returns the persisted migration state of the CRD of widgets.
func (k *kit) history() managedfields.History {
	k.Helper()
	h, err := managedfields.ReadHistory(k.Context(), k.Objects.Cache, k.Parsed("widgets"))
	if err != nil {
		k.Fatal(err)
	}
	return h
}

// waitFinished waits until all entries are migrated, that is, until no migration state is persisted.
func (k *kit) waitFinished() {
	k.Helper()
	k.Wait("the persisted migration state to be deleted", func() bool {
		return k.previousGenerations() == 0 && k.records(managedfields.PendingRecords) == 0
	})
}

// waitOwned waits until the managedFields of a widget contain the given members of fieldsV1.
func (k *kit) waitOwned(name, fields string) {
	k.Helper()
	k.Wait("managedFields of "+name+" to contain "+fields, func() bool { return strings.Contains(k.ManagedFields("v1", name), fields) })
}

// wantOwned checks that the managedFields of a widget contain the given members of fieldsV1.
func (k *kit) wantOwned(name, fields string) {
	k.Helper()
	if got := k.ManagedFields("v1", name); !strings.Contains(got, fields) {
		k.Errorf("managedFields of %s = %s, want %s", name, got, fields)
	}
}

// wantAllMigrated checks that the managedFields of the n widgets w0, w1, … of crdtest.TwoMaps own the granular map.
func (k *kit) wantAllMigrated(n int) {
	k.Helper()
	for i := range n {
		name := fmt.Sprint("w", i)
		if got := k.ManagedFields("v1", name); !strings.Contains(got, mapGranular) {
			k.Fatalf("managedFields of %s = %s, want %s", name, got, mapGranular)
		}
	}
}

// wantBlocked checks that writes to widgets are blocked: an apply with a short deadline times out.
func (k *kit) wantBlocked() {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), 50*time.Millisecond)
	defer cancel()
	if err := k.ApplyAs(ctx, "tester", "v1", "one", ""); !apierrors.IsTimeout(err) {
		k.Errorf("ApplyAs() while writes should be blocked = %v, want a timeout", err)
	}
}

// unserveFirst returns the CRD versions with served: false in the first version.
func unserveFirst(versions string) string {
	return strings.Replace(versions, `"served":true`, `"served":false`, 1)
}
