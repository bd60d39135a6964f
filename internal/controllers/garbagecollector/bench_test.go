package garbagecollector

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/controllers/workqueue"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// BenchmarkChanged measures the time that the collector adds to each write of an object: its Observer.Changed method.
func BenchmarkChanged(b *testing.B) {
	k := registrytest.Open(b)
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("configmaps", "default", object("plain"))
	k.Create("configmaps", "default", object("owned", ownerRef("ConfigMap", "owner", uid)))
	get := func(name string) *watchcache.Object {
		o, err := k.Registry.Cache.Get(b.Context(), watchcache.Key{Kind: configMaps, Namespace: "default", Name: name}, watchcache.Any)
		if err != nil {
			b.Fatal(err)
		}
		return o
	}
	plain, owned := get("plain"), get("owned")
	for name, change := range map[string][2]*watchcache.Object{
		"created": {nil, plain}, "updated": {plain, plain}, "deleted": {plain, nil}, "updated-dependent": {owned, owned},
	} {
		b.Run(name, func(b *testing.B) {
			c := &Collector{Objects: k.Registry, queue: workqueue.NewQueue[task](minBackoff, maxBackoff)}
			c.Reset()
			for i := range 1000 { // the index contains 1000 unrelated owners
				c.index.change(fmt.Sprint("core/configmaps/default/d", i), nil, []reference{{uid: fmt.Sprint("uid", i)}})
			}
			b.ReportAllocs()
			for b.Loop() {
				c.Changed(change[0], change[1])
			}
		})
	}
}

// BenchmarkDeleteOwner measures the deletion of an owner with 10,000 dependents with each propagation policy.
func BenchmarkDeleteOwner(b *testing.B) {
	for _, storage := range []string{"memory", "disk"} {
		for _, policy := range []registry.Propagation{registry.Background, registry.Foreground, registry.Orphan} {
			b.Run(fmt.Sprintf("%s/%s", storage, policy), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					folder := ""
					if storage == "disk" {
						folder = b.TempDir()
					}
					s, err := pebble.Open(pebble.Options{Folder: folder, Log: registrytest.Log})
					if err != nil {
						b.Fatal(err)
					}
					k := openOn(b, s)
					k.createMany(10_000, k.Create("configmaps", "default", object("owner")))
					left := 0
					if policy == registry.Orphan {
						left = 10_000
					}
					b.StartTimer()
					k.Delete("configmaps", "default", "owner", policy)
					k.waitDeleted(configMaps, "default", "owner")
					k.Wait("all dependents to be processed", func() bool { return k.Registry.Cache.Count(secrets) == left })
					b.StopTimer()
					k.stop()
					b.StartTimer()
				}
			})
		}
	}
}
