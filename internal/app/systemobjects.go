package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// defaultReconcileInterval is the default interval at which deleted system objects are recreated, as in kube-apiserver.
const defaultReconcileInterval = time.Minute

// systemObjects recreates deleted objects on which other objects depend: the system namespaces, the Service default/kubernetes,
// and the objects of priority and fairness. As in kube-apiserver, it runs on every server, even if controllers are disabled.
type systemObjects struct {
	all      *registry.Registry
	address  string
	interval time.Duration
	// withoutFairness disables the maintenance of the objects of priority and fairness.
	withoutFairness bool
}

// kubernetesService is the key of the Service through which pods reach the API server.
var kubernetesService = watchcache.Key{Kind: "core/services", Namespace: "default", Name: "kubernetes"}

func (s *systemObjects) run(ctx context.Context) {
	ticker := time.NewTicker(cmp.Or(s.interval, defaultReconcileInterval))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.reconcile(ctx)
		}
	}
}

// reconcile creates the system objects that do not exist. It logs failures; the next call retries.
func (s *systemObjects) reconcile(ctx context.Context) {
	for _, name := range systemNamespaces {
		if !s.isMissing(ctx, watchcache.Key{Kind: "core/namespaces", Name: name}) {
			continue
		}
		if err := makeNamespace(ctx, s.all, name); err != nil && ctx.Err() == nil {
			s.all.Log.Warn("restoring system namespace failed", "name", name, "error", err)
		}
	}
	if s.isMissing(ctx, kubernetesService) {
		makeService(ctx, s.all, s.address)
	}
	if s.withoutFairness {
		return
	}
	err := makeFairness(ctx, s.all, func(make func() error) {
		if err := make(); err != nil && ctx.Err() == nil {
			s.all.Log.Warn("restoring an object of priority and fairness failed", "error", err)
		}
	})
	if err != nil && ctx.Err() == nil {
		s.all.Log.Warn("listing the objects of priority and fairness failed", "error", err)
	}
}

func (s *systemObjects) isMissing(ctx context.Context, key watchcache.Key) bool {
	_, err := s.all.Cache.Get(ctx, key, watchcache.Any)
	return errors.Is(err, storage.ErrNotFound)
}

// makeNamespace creates a system namespace, unless it exists.
func makeNamespace(ctx context.Context, all *registry.Registry, name string) error {
	return makeIfAbsent(ctx, all, "", "namespaces", fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name))
}
