package garbagecollector

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// TestBackground: dependants go after their owner, and theirs after them.
func TestBackground(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", object("child", ref("ConfigMap", "owner", uid)))
	k.Create("configmaps", "default", object("grandchild", blocking("Secret", "child", child)))
	other := k.Create("configmaps", "default", object("other"))
	k.Create("secrets", "default", object("others", ref("ConfigMap", "other", other)))
	k.Delete("configmaps", "default", "owner", registry.Background)
	k.waitGone(configMaps, "default", "grandchild")
	k.waitGone(secrets, "default", "child")
	k.wantThere(secrets, "default", "others")
	k.Delete("configmaps", "default", "other", registry.DefaultPropagation)
	k.waitGone(secrets, "default", "others")
	k.wantEmpty()
}

// TestForeground: an owner waits for those that block it, and only for those.
func TestForeground(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("secrets", "default", held("blocks", "example.com/hold", blocking("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", held("does-not", "example.com/hold", ref("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", object("free", blocking("ConfigMap", "owner", uid)))
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.waitGone(secrets, "default", "free")
	k.wantThere(configMaps, "default", "owner")
	for _, name := range []string{"blocks", "does-not"} {
		if k.Get(secrets, "default", name).Lookup("metadata", "deletionTimestamp").IsAbsent() {
			t.Errorf("%s is not being deleted", name)
		}
	}
	k.Merge("secrets", "default", "blocks", `{"metadata":{"finalizers":null}}`)
	k.waitGone(configMaps, "default", "owner")
	if !k.Has(secrets, "default", "does-not") {
		t.Error("does-not is gone, though it has a finalizer")
	}
	k.Merge("secrets", "default", "does-not", `{"metadata":{"finalizers":null}}`)
	k.wantEmpty()
}

// TestForegroundOfAll: dependants that have dependants are deleted in the foreground, too.
func TestForegroundOfAll(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", object("child", blocking("ConfigMap", "owner", uid)))
	k.Create("configmaps", "default", held("grandchild", "example.com/hold", blocking("Secret", "child", child)))
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.Wait("the child waits", func() bool {
		finalizers := k.Get(secrets, "default", "child").Lookup("metadata", "finalizers")
		return finalizers.JSON() == `["`+registry.ForegroundFinalizer+`"]`
	})
	k.wantThere(configMaps, "default", "owner")
	k.Merge("configmaps", "default", "grandchild", `{"metadata":{"finalizers":null}}`)
	k.waitGone(secrets, "default", "child")
	k.waitGone(configMaps, "default", "owner")
	k.wantEmpty()
}

// TestUnblocked: an owner waits no longer for a dependant that gives it up, or no longer blocks it.
func TestUnblocked(t *testing.T) {
	for name, patch := range map[string]string{
		"no owner": `{"metadata":{"ownerReferences":null}}`,
		"no block": `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"UID"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t)
			uid := k.Create("configmaps", "default", object("owner"))
			k.Create("secrets", "default", held("blocks", "example.com/hold", blocking("ConfigMap", "owner", uid)))
			k.Delete("configmaps", "default", "owner", registry.Foreground)
			k.wantThere(configMaps, "default", "owner")
			k.Merge("secrets", "default", "blocks", replaceUID(patch, uid))
			k.waitGone(configMaps, "default", "owner")
		})
	}
}

// TestOrphan: dependants stay, and have an owner less. So it is for jobs if nobody says otherwise.
func TestOrphan(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	other := k.Create("configmaps", "default", object("other"))
	k.Create("secrets", "default", object("child", ref("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", object("both", ref("ConfigMap", "owner", uid), blocking("ConfigMap", "other", other)))
	k.Delete("configmaps", "default", "owner", registry.Orphan)
	k.waitGone(configMaps, "default", "owner")
	k.wantThere(secrets, "default", "child")
	if got := k.Get(secrets, "default", "child").Lookup("metadata", "ownerReferences"); !got.IsAbsent() {
		t.Errorf("received %s, want no references", got.JSON())
	}
	if got := k.owners(secrets, "default", "both"); !slices.Equal(got, []string{other}) {
		t.Errorf("received %v, want only %s", got, other)
	}
	job := k.Create("jobs.batch", "default", `{"metadata":{"name":"once"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	k.Create("secrets", "default", object("of-a-job", `{"apiVersion":"batch/v1","kind":"Job","name":"once","uid":"`+job+`"}`))
	k.Delete("jobs.batch", "default", "once", registry.DefaultPropagation)
	k.waitGone("batch/jobs", "default", "once")
	k.wantThere(secrets, "default", "of-a-job")
}

// TestDangling: who names only owners that do not exist goes.
func TestDangling(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	for name, reference := range map[string]string{
		"never was":           ref("ConfigMap", "nobody", "0000"),
		"another of the name": ref("ConfigMap", "owner", "0000"),
		"another name":        ref("ConfigMap", "else", uid),
		"another kind":        ref("Secret", "owner", uid),
	} {
		t.Run(name, func(t *testing.T) {
			k.Create("secrets", "default", object("child", reference))
			k.waitGone(secrets, "default", "child")
		})
	}
	k.Create("secrets", "default", object("child", ref("ConfigMap", "owner", uid)))
	k.wantThere(secrets, "default", "child")
}

// TestMixed: an object with an owner that stays stays, and gives up the others.
func TestMixed(t *testing.T) {
	k := open(t)
	solid := k.Create("configmaps", "default", object("solid"))
	goes := k.Create("configmaps", "default", object("goes"))
	waits := k.Create("configmaps", "default", object("waits"))
	k.Create("secrets", "default", object("child",
		ref("ConfigMap", "never", "0000"), ref("ConfigMap", "goes", goes), blocking("ConfigMap", "waits", waits), ref("ConfigMap", "solid", solid)))
	k.Wait("the one that never was is given up", func() bool {
		return slices.Equal(k.owners(secrets, "default", "child"), []string{goes, waits, solid})
	})
	k.Delete("configmaps", "default", "goes", registry.Background)
	k.Wait("the one that goes is given up", func() bool {
		return slices.Equal(k.owners(secrets, "default", "child"), []string{waits, solid})
	})
	k.Delete("configmaps", "default", "waits", registry.Foreground)
	k.waitGone(configMaps, "default", "waits")
	if got := k.owners(secrets, "default", "child"); !slices.Equal(got, []string{solid}) {
		t.Errorf("received %v, want only %s", got, solid)
	}
	k.wantThere(secrets, "default", "child")
}

// TestPlaces: an owner is in the namespace of its dependants, or in none.
func TestPlaces(t *testing.T) {
	k := open(t)
	k.Create("namespaces", "", object("far"))
	uid := k.Create("configmaps", "far", object("owner"))
	k.Create("secrets", "default", object("child", ref("ConfigMap", "owner", uid)))
	k.waitGone(secrets, "default", "child")
	k.wantEvent("default", "child", `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: `+uid+`] does not exist in namespace "default"`)

	k.Create("nodes", "", object("child", ref("ConfigMap", "owner", uid)))
	k.wantThere("core/nodes", "", "child")
	k.wantEvent("default", "child", `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: `+uid+`] does not exist in namespace ""`)

	node := k.Create("nodes", "", object("owner"))
	k.Create("secrets", "far", object("child", ref("Node", "owner", node)))
	k.wantThere(secrets, "far", "child")
	k.Delete("nodes", "", "owner", registry.Background)
	k.waitGone(secrets, "far", "child")
}

func (k *kit) wantEvent(namespace, about, message string) {
	k.Helper()
	k.Wait("an event tells "+message, func() bool {
		list, err := k.All.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: ignored, Namespace: namespace}, Freshness: watchcache.Latest})
		if err != nil {
			k.Fatal(err)
		}
		for _, o := range list.Objects {
			event := k.Get(ignored, namespace, o.Name())
			if event.Get("message").Text() == message && event.Lookup("involvedObject", "name").Text() == about &&
				event.Get("reason").Text() == "OwnerRefInvalidNamespace" && event.Get("type").Text() == "Warning" {
				return true
			}
		}
		return false
	})
}

// TestCycle: objects that own each other keep each other, until one is deleted.
func TestCycle(t *testing.T) {
	for _, policy := range []registry.Propagation{registry.Background, registry.Foreground} {
		t.Run(string(policy), func(t *testing.T) {
			k := open(t)
			a := k.Create("configmaps", "default", object("a"))
			b := k.Create("configmaps", "default", object("b", blocking("ConfigMap", "a", a)))
			c := k.Create("configmaps", "default", object("c", blocking("ConfigMap", "b", b)))
			k.Merge("configmaps", "default", "a", `{"metadata":{"ownerReferences":[`+blocking("ConfigMap", "c", c)+`]}}`)
			k.wantThere(configMaps, "default", "a")
			k.Delete("configmaps", "default", "a", policy)
			for _, name := range []string{"a", "b", "c"} {
				k.waitGone(configMaps, "default", name)
			}
			k.wantEmpty()
		})
	}
}

// TestSelf: an object that owns itself is nobody's garbage.
func TestSelf(t *testing.T) {
	for _, policy := range []registry.Propagation{registry.Background, registry.Foreground, registry.Orphan} {
		k := open(t)
		uid := k.Create("configmaps", "default", object("self"))
		k.Merge("configmaps", "default", "self", `{"metadata":{"ownerReferences":[`+blocking("ConfigMap", "self", uid)+`]}}`)
		k.wantThere(configMaps, "default", "self")
		k.Delete("configmaps", "default", "self", policy)
		k.waitGone(configMaps, "default", "self")
	}
}

// TestFinalizersOfDependants: what the finalizers of a dependant say about its own dependants counts.
func TestFinalizersOfDependants(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", held("child", registry.OrphanFinalizer, ref("ConfigMap", "owner", uid)))
	k.Create("configmaps", "default", object("grandchild", ref("Secret", "child", child)))
	k.Delete("configmaps", "default", "owner", registry.Background)
	k.waitGone(secrets, "default", "child")
	k.wantThere(configMaps, "default", "grandchild")
}

// TestUnknownKinds: an owner of a kind that is not served may exist. When the kind is served, it is known whether
// it does.
func TestUnknownKinds(t *testing.T) {
	k := open(t)
	widget := func(name, uid string) string {
		return `{"apiVersion":"example.com/v1","kind":"Widget","name":"` + name + `","uid":"` + uid + `"}`
	}
	k.Create("secrets", "default", object("orphan", widget("nobody", "w0")))
	k.Create("secrets", "default", object("child", widget("w", "w1")))
	k.Create("secrets", "default", object("unread", `{"apiVersion":"apps/v9","kind":"Deployment","name":"w","uid":"w2"}`))
	k.put("example.com/widgets/default/w", `{"metadata":{"name":"w","namespace":"default","uid":"w1"}}`)
	k.wantThere(secrets, "default", "orphan")
	k.wantThere(secrets, "default", "child")
	if err := k.All.Kinds.Add(&api.Kind{Group: "example.com", Name: "Widget", Resource: "widgets", Versions: []string{"v1"}, Namespaced: true}); err != nil {
		t.Fatal(err)
	}
	k.waitGone(secrets, "default", "orphan")
	k.wantThere(secrets, "default", "child")
	k.wantThere(secrets, "default", "unread")

	// The kind goes with its objects.
	k.All.Kinds.Remove("example.com", "widgets")
	k.put("example.com/widgets/default/w", "")
	k.waitGone(secrets, "default", "child")
}

// put writes an object past all rules; nothing deletes it.
func (k *kit) put(key, value string) {
	k.Helper()
	w := storage.Write{Key: key, Value: []byte(value)}
	if value == "" {
		w.Value = nil
	}
	parsed, err := watchcache.ParseKey(key)
	if err != nil {
		k.Fatal(err)
	}
	if there, err := k.All.Cache.Get(k.Context(), parsed, watchcache.Latest); err == nil {
		w.Expected = there.Revision()
	}
	if _, _, err := k.All.Cache.Commit(k.Context(), w); err != nil {
		k.Fatal(err)
	}
}

// TestEventsHaveNoOwners: as in Kubernetes nobody looks at those of events.
func TestEventsHaveNoOwners(t *testing.T) {
	k := open(t)
	k.Create("events", "default", `{"metadata":{"name":"e","ownerReferences":[`+ref("ConfigMap", "nobody", "0000")+`]},"involvedObject":{"namespace":"default"}}`)
	k.wantThere(ignored, "default", "e")
}

// TestRestart: what happened while nobody collected is seen to afterwards.
func TestRestart(t *testing.T) {
	k := open(t)
	background := k.Create("configmaps", "default", object("background"))
	foreground := k.Create("configmaps", "default", object("foreground"))
	orphan := k.Create("configmaps", "default", object("orphan"))
	k.Create("secrets", "default", object("a", ref("ConfigMap", "background", background)))
	k.Create("secrets", "default", object("b", blocking("ConfigMap", "foreground", foreground)))
	k.Create("secrets", "default", object("c", blocking("ConfigMap", "orphan", orphan)))
	k.stop()
	k.Delete("configmaps", "default", "background", registry.Background)
	k.Delete("configmaps", "default", "foreground", registry.Foreground)
	k.Delete("configmaps", "default", "orphan", registry.Orphan)
	for _, name := range []string{"a", "b", "c"} {
		if !k.Has(secrets, "default", name) {
			t.Errorf("%s is gone, though nobody collects", name)
		}
	}
	k.start()
	k.waitGone(secrets, "default", "a")
	k.waitGone(secrets, "default", "b")
	k.waitGone(configMaps, "default", "foreground")
	k.waitGone(configMaps, "default", "orphan")
	k.wantThere(secrets, "default", "c")
	k.wantEmpty()
}
