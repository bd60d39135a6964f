package garbage

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/objects/objectstest"
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
