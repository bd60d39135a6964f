package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// keepEvery is how often the server looks whether what must be there still is, as in Kubernetes.
const keepEvery = time.Minute

// A keeper makes anew what clients may delete and others rely on: the system's namespaces, and the server's own service. Every server does, also one
// without controllers, as every kube-apiserver does.
type keeper struct {
	all     *objects.Objects
	address net.Addr
	every   time.Duration
}

func (k *keeper) run(ctx context.Context) {
	ticker := time.NewTicker(cmp.Or(k.every, keepEvery))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.keep(ctx)
		}
	}
}

// keep makes what is not there. Nobody is asked about what is there.
func (k *keeper) keep(ctx context.Context) {
	for _, name := range systemNamespaces {
		if !k.isGone(ctx, cache.Key{Kind: "core/namespaces", Name: name}) {
			continue
		}
		if err := makeNamespace(ctx, k.all, name); err != nil && ctx.Err() == nil {
			k.all.Log.Warn("a namespace of the system is gone, and can't be made anew", "name", name, "error", err)
		}
	}
	if k.isGone(ctx, cache.Key{Kind: "core/services", Namespace: "default", Name: "kubernetes"}) {
		makeService(ctx, k.all, k.address)
	}
}

func (k *keeper) isGone(ctx context.Context, key cache.Key) bool {
	_, err := k.all.Cache.Get(ctx, key, cache.Any)
	return errors.Is(err, store.ErrNotFound)
}

// makeNamespace makes a namespace of the system, if it is not there.
func makeNamespace(ctx context.Context, all *objects.Objects, name string) error {
	return makeIfAbsent(ctx, all, "", "namespaces", fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name))
}
