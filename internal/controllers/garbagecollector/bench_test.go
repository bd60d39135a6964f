package garbage

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/objects/objectstest"
	"github.com/cadastre/cadastre/internal/store/local"
	"github.com/cadastre/cadastre/internal/tasks"
)

// BenchmarkChanged: what the collector costs everybody who writes an object.
func BenchmarkChanged(b *testing.B) {
	k := objectstest.Open(b)
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("configmaps", "default", object("plain"))
	k.Create("configmaps", "default", object("owned", ref("ConfigMap", "owner", uid)))
	get := func(name string) *cache.Object {
		o, err := k.All.Cache.Get(b.Context(), cache.Key{Kind: configMaps, Namespace: "default", Name: name}, cache.Any)
		if err != nil {
			b.Fatal(err)
		}
		return o
	}
	plain, owned := get("plain"), get("owned")
	for name, change := range map[string][2]*cache.Object{
		"created": {nil, plain}, "updated": {plain, plain}, "deleted": {plain, nil}, "updated-dependant": {owned, owned},
	} {
		b.Run(name, func(b *testing.B) {
			c := &Collector{Objects: k.All, queue: tasks.NewQueue[task](firstWait, lastWait)}
			c.Begin()
			for i := range 1000 { // there are others
				c.index.change(fmt.Sprint("core/configmaps/default/d", i), nil, []reference{{uid: fmt.Sprint("uid", i)}})
			}
			b.ReportAllocs()
			for b.Loop() {
				c.Changed(change[0], change[1])
			}
		})
	}
}

// BenchmarkOwnerGoes: an owner is deleted, and 10,000 dependants with it.
func BenchmarkOwnerGoes(b *testing.B) {
	for _, place := range []string{"memory", "disk"} {
		for _, policy := range []objects.Propagation{objects.Background, objects.Foreground, objects.Orphan} {
			b.Run(fmt.Sprintf("%s/%s", place, policy), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					folder := ""
					if place == "disk" {
						folder = b.TempDir()
					}
					s, err := local.Open(local.Options{Folder: folder, Log: objectstest.Log})
					if err != nil {
						b.Fatal(err)
					}
					k := over(b, s)
					k.createMany(10_000, k.Create("configmaps", "default", object("owner")))
					left := 0
					if policy == objects.Orphan {
						left = 10_000
					}
					b.StartTimer()
					k.Delete("configmaps", "default", "owner", policy)
					k.waitGone(configMaps, "default", "owner")
					k.Wait("all is done", func() bool { return k.All.Cache.Count(secrets) == left })
					b.StopTimer()
					k.stop()
					b.StartTimer()
				}
			})
		}
	}
}
