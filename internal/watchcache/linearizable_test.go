package watchcache

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/storagetest"
)

// items adapts a cache to storagetest.Items: the value of an item is stored in spec.nodeName of a pod.
type items struct {
	c *Cache
	f Freshness
}

func (i items) Get(ctx context.Context, key string) (storage.Item, error) {
	o, err := i.c.Get(ctx, podKey("default", strings.TrimPrefix(key, "k/")), i.f)
	if err != nil {
		return storage.Item{}, err
	}
	node, _ := o.Field("spec.nodeName")
	return storage.Item{Key: key, Value: []byte(node), Revision: o.Revision()}, nil
}

func (i items) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	for n, w := range writes {
		name := strings.TrimPrefix(w.Key, "k/")
		writes[n].Key, writes[n].Value = podKey("default", name).String(), pod(name, "web", string(w.Value), 0)
	}
	_, revision, err := i.c.Commit(ctx, writes...)
	return revision, err
}

// TestLinearizable: a cache that is the only writer of its store is linearizable, even for reads with Freshness Any.
func TestLinearizable(t *testing.T) {
	for _, f := range []Freshness{Latest, Any} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			storagetest.RunLinearizable(t, items{openCache(t, openStore(t), Options{}), f})
		})
	}
}
