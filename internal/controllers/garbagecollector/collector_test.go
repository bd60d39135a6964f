package garbagecollector

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// TestBackground: with background deletion, the dependents of an object are deleted after the object, transitively.
func TestBackground(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "owner", uid)))
	k.Create("configmaps", "default", object("grandchild", blockingRef("Secret", "child", child)))
	other := k.Create("configmaps", "default", object("other"))
	k.Create("secrets", "default", object("others", ownerRef("ConfigMap", "other", other)))
	k.Delete("configmaps", "default", "owner", registry.Background)
	k.waitDeleted(configMaps, "default", "grandchild")
	k.waitDeleted(secrets, "default", "child")
	k.wantExists(secrets, "default", "others")
	k.Delete("configmaps", "default", "other", registry.DefaultPropagation)
	k.waitDeleted(secrets, "default", "others")
	k.wantEmptyIndex()
}

// TestForeground: with foreground deletion, an owner is deleted after its dependents with blockOwnerDeletion; it does not
// wait for other dependents.
func TestForeground(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("secrets", "default", withFinalizer("blocks", "example.com/hold", blockingRef("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", withFinalizer("does-not", "example.com/hold", ownerRef("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", object("free", blockingRef("ConfigMap", "owner", uid)))
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.waitDeleted(secrets, "default", "free")
	k.wantExists(configMaps, "default", "owner")
	for _, name := range []string{"blocks", "does-not"} {
		if k.Get(secrets, "default", name).Lookup("metadata", "deletionTimestamp").IsAbsent() {
			t.Errorf("secret %s has no deletionTimestamp after its owner was deleted in the foreground, want one", name)
		}
	}
	k.Merge("secrets", "default", "blocks", `{"metadata":{"finalizers":null}}`)
	k.waitDeleted(configMaps, "default", "owner")
	if !k.Has(secrets, "default", "does-not") {
		t.Error("secret does-not was deleted with its owner, want it to remain because it has a finalizer")
	}
	k.Merge("secrets", "default", "does-not", `{"metadata":{"finalizers":null}}`)
	k.wantEmptyIndex()
}

// TestForegroundIsTransitive: the foreground deletion of an owner deletes its dependents in the foreground too if they have
// dependents themselves.
func TestForegroundIsTransitive(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", object("child", blockingRef("ConfigMap", "owner", uid)))
	k.Create("configmaps", "default", withFinalizer("grandchild", "example.com/hold", blockingRef("Secret", "child", child)))
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.Wait("the child to get the foreground finalizer", func() bool {
		finalizers := k.Get(secrets, "default", "child").Lookup("metadata", "finalizers")
		return finalizers.JSON() == `["`+registry.ForegroundFinalizer+`"]`
	})
	k.wantExists(configMaps, "default", "owner")
	k.Merge("configmaps", "default", "grandchild", `{"metadata":{"finalizers":null}}`)
	k.waitDeleted(secrets, "default", "child")
	k.waitDeleted(configMaps, "default", "owner")
	k.wantEmptyIndex()
}

// TestUnblocked: an owner that is deleted in the foreground stops waiting for a dependent when the dependent's
// ownerReference, or its blockOwnerDeletion, is removed.
func TestUnblocked(t *testing.T) {
	for name, patch := range map[string]string{
		"no owner": `{"metadata":{"ownerReferences":null}}`,
		"no block": `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"UID"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t)
			uid := k.Create("configmaps", "default", object("owner"))
			k.Create("secrets", "default", withFinalizer("blocks", "example.com/hold", blockingRef("ConfigMap", "owner", uid)))
			k.Delete("configmaps", "default", "owner", registry.Foreground)
			k.wantExists(configMaps, "default", "owner")
			k.Merge("secrets", "default", "blocks", replaceUID(patch, uid))
			k.waitDeleted(configMaps, "default", "owner")
		})
	}
}

// TestOrphan: with orphan deletion, dependents are kept and the ownerReferences to the deleted owner are removed. Orphan
// is the default policy for Jobs.
func TestOrphan(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	other := k.Create("configmaps", "default", object("other"))
	k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", object("both", ownerRef("ConfigMap", "owner", uid), blockingRef("ConfigMap", "other", other)))
	k.Delete("configmaps", "default", "owner", registry.Orphan)
	k.waitDeleted(configMaps, "default", "owner")
	k.wantExists(secrets, "default", "child")
	if got := k.Get(secrets, "default", "child").Lookup("metadata", "ownerReferences"); !got.IsAbsent() {
		t.Errorf("ownerReferences of secret child = %s, want none", got.JSON())
	}
	if got := k.owners(secrets, "default", "both"); !slices.Equal(got, []string{other}) {
		t.Errorf("owner UIDs of secret both = %v, want only %s", got, other)
	}
	job := k.Create("jobs.batch", "default", `{"metadata":{"name":"once"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	k.Create("secrets", "default", object("of-a-job", `{"apiVersion":"batch/v1","kind":"Job","name":"once","uid":"`+job+`"}`))
	k.Delete("jobs.batch", "default", "once", registry.DefaultPropagation)
	k.waitDeleted("batch/jobs", "default", "once")
	k.wantExists(secrets, "default", "of-a-job")
}

// TestDangling: an object is deleted if none of its owners exists. An object with the owner's name and another UID or
// kind is not the owner.
func TestDangling(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	for name, reference := range map[string]string{
		"never existed": ownerRef("ConfigMap", "absent", "0000"),
		"another UID":   ownerRef("ConfigMap", "owner", "0000"),
		"another name":  ownerRef("ConfigMap", "other", uid),
		"another kind":  ownerRef("Secret", "owner", uid),
	} {
		t.Run(name, func(t *testing.T) {
			k.Create("secrets", "default", object("child", reference))
			k.waitDeleted(secrets, "default", "child")
		})
	}
	k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "owner", uid)))
	k.wantExists(secrets, "default", "child")
}

// TestMixed: an object with one existing owner is kept, and its references to owners that do not exist or are being
// deleted in the foreground are removed.
func TestMixed(t *testing.T) {
	k := open(t)
	solid := k.Create("configmaps", "default", object("solid"))
	deleted := k.Create("configmaps", "default", object("deleted"))
	waiting := k.Create("configmaps", "default", object("waits"))
	k.Create("secrets", "default", object("child",
		ownerRef("ConfigMap", "never", "0000"), ownerRef("ConfigMap", "deleted", deleted), blockingRef("ConfigMap", "waits", waiting), ownerRef("ConfigMap", "solid", solid)))
	k.Wait("the reference to the owner that never existed to be removed", func() bool {
		return slices.Equal(k.owners(secrets, "default", "child"), []string{deleted, waiting, solid})
	})
	k.Delete("configmaps", "default", "deleted", registry.Background)
	k.Wait("the reference to the deleted owner to be removed", func() bool {
		return slices.Equal(k.owners(secrets, "default", "child"), []string{waiting, solid})
	})
	k.Delete("configmaps", "default", "waits", registry.Foreground)
	k.waitDeleted(configMaps, "default", "waits")
	if got := k.owners(secrets, "default", "child"); !slices.Equal(got, []string{solid}) {
		t.Errorf("owner UIDs of secret child = %v, want only %s", got, solid)
	}
	k.wantExists(secrets, "default", "child")
}

// TestOwnerNamespaces: an owner must be in the namespace of its dependents or cluster-scoped. A reference to an owner in
// another namespace is reported as an Event, and the dependent is deleted.
func TestOwnerNamespaces(t *testing.T) {
	k := open(t)
	k.Create("namespaces", "", object("far"))
	uid := k.Create("configmaps", "far", object("owner"))
	k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "owner", uid)))
	k.waitDeleted(secrets, "default", "child")
	k.wantEvent("default", "child", `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: `+uid+`] does not exist in namespace "default"`)

	k.Create("nodes", "", object("child", ownerRef("ConfigMap", "owner", uid)))
	k.wantExists("core/nodes", "", "child")
	k.wantEvent("default", "child", `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: `+uid+`] does not exist in namespace ""`)

	node := k.Create("nodes", "", object("owner"))
	k.Create("secrets", "far", object("child", ownerRef("Node", "owner", node)))
	k.wantExists(secrets, "far", "child")
	k.Delete("nodes", "", "owner", registry.Background)
	k.waitDeleted(secrets, "far", "child")
}

// wantEvent waits for a Warning Event with reason OwnerRefInvalidNamespace and the message, whose involvedObject has the given
// name.
func (k *kit) wantEvent(namespace, objectName, message string) {
	k.Helper()
	k.Wait("an event with message "+message, func() bool {
		list, err := k.Registry.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: ignoredResource, Namespace: namespace}, Freshness: watchcache.Latest})
		if err != nil {
			k.Fatal(err)
		}
		for _, o := range list.Objects {
			event := k.Get(ignoredResource, namespace, o.Name())
			if event.Get("message").Text() == message && event.Lookup("involvedObject", "name").Text() == objectName &&
				event.Get("reason").Text() == "OwnerRefInvalidNamespace" && event.Get("type").Text() == "Warning" {
				return true
			}
		}
		return false
	})
}

// TestCycle: objects whose ownerReferences form a cycle remain until one of the objects is deleted; then all are deleted.
func TestCycle(t *testing.T) {
	for _, policy := range []registry.Propagation{registry.Background, registry.Foreground} {
		t.Run(string(policy), func(t *testing.T) {
			k := open(t)
			a := k.Create("configmaps", "default", object("a"))
			b := k.Create("configmaps", "default", object("b", blockingRef("ConfigMap", "a", a)))
			c := k.Create("configmaps", "default", object("c", blockingRef("ConfigMap", "b", b)))
			k.Merge("configmaps", "default", "a", `{"metadata":{"ownerReferences":[`+blockingRef("ConfigMap", "c", c)+`]}}`)
			k.wantExists(configMaps, "default", "a")
			k.Delete("configmaps", "default", "a", policy)
			for _, name := range []string{"a", "b", "c"} {
				k.waitDeleted(configMaps, "default", name)
			}
			k.wantEmptyIndex()
		})
	}
}

// TestSelf: an object that refers to itself as owner is not collected, and can be deleted with every policy.
func TestSelf(t *testing.T) {
	for _, policy := range []registry.Propagation{registry.Background, registry.Foreground, registry.Orphan} {
		k := open(t)
		uid := k.Create("configmaps", "default", object("self"))
		k.Merge("configmaps", "default", "self", `{"metadata":{"ownerReferences":[`+blockingRef("ConfigMap", "self", uid)+`]}}`)
		k.wantExists(configMaps, "default", "self")
		k.Delete("configmaps", "default", "self", policy)
		k.waitDeleted(configMaps, "default", "self")
	}
}

// TestFinalizersOfDependents: if the collector deletes a dependent that has the orphan finalizer, the dependents of that
// dependent are orphaned.
func TestFinalizersOfDependents(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", withFinalizer("child", registry.OrphanFinalizer, ownerRef("ConfigMap", "owner", uid)))
	k.Create("configmaps", "default", object("grandchild", ownerRef("Secret", "child", child)))
	k.Delete("configmaps", "default", "owner", registry.Background)
	k.waitDeleted(secrets, "default", "child")
	k.wantExists(configMaps, "default", "grandchild")
}

// TestUnknownKinds: an owner of a kind that is not served is assumed to exist. Once the kind is served, the dependents of
// its objects are reconciled again.
func TestUnknownKinds(t *testing.T) {
	k := open(t)
	widget := func(name, uid string) string {
		return `{"apiVersion":"example.com/v1","kind":"Widget","name":"` + name + `","uid":"` + uid + `"}`
	}
	k.Create("secrets", "default", object("orphan", widget("absent", "w0")))
	k.Create("secrets", "default", object("child", widget("w", "w1")))
	k.Create("secrets", "default", object("unread", `{"apiVersion":"apps/v9","kind":"Deployment","name":"w","uid":"w2"}`))
	k.put("example.com/widgets/default/w", `{"metadata":{"name":"w","namespace":"default","uid":"w1"}}`)
	k.wantExists(secrets, "default", "orphan")
	k.wantExists(secrets, "default", "child")
	if err := k.Registry.Kinds.Add(&api.Kind{Group: "example.com", Name: "Widget", Resource: "widgets", Versions: []string{"v1"}, Namespaced: true}); err != nil {
		t.Fatal(err)
	}
	k.waitDeleted(secrets, "default", "orphan")
	k.wantExists(secrets, "default", "child")
	k.wantExists(secrets, "default", "unread")

	// A deleted CustomResourceDefinition unregisters the kind together with its objects.
	k.Registry.Kinds.Remove("example.com", "widgets")
	k.put("example.com/widgets/default/w", "")
	k.waitDeleted(secrets, "default", "child")
}

// put writes an object directly to the watch cache, without admission and validation; an empty value deletes the object.
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
	if there, err := k.Registry.Cache.Get(k.Context(), parsed, watchcache.Latest); err == nil {
		w.Expected = there.Revision()
	}
	if _, _, err := k.Registry.Cache.Commit(k.Context(), w); err != nil {
		k.Fatal(err)
	}
}

// TestEventsAreIgnored: owner references of Events are ignored, as in Kubernetes.
func TestEventsAreIgnored(t *testing.T) {
	k := open(t)
	k.Create("events", "default", `{"metadata":{"name":"e","ownerReferences":[`+ownerRef("ConfigMap", "absent", "0000")+`]},"involvedObject":{"namespace":"default"}}`)
	k.wantExists(ignoredResource, "default", "e")
}

// TestRestart: owners that were deleted while the collector was stopped are handled when it starts.
func TestRestart(t *testing.T) {
	k := open(t)
	background := k.Create("configmaps", "default", object("background"))
	foreground := k.Create("configmaps", "default", object("foreground"))
	orphan := k.Create("configmaps", "default", object("orphan"))
	k.Create("secrets", "default", object("a", ownerRef("ConfigMap", "background", background)))
	k.Create("secrets", "default", object("b", blockingRef("ConfigMap", "foreground", foreground)))
	k.Create("secrets", "default", object("c", blockingRef("ConfigMap", "orphan", orphan)))
	k.stop()
	k.Delete("configmaps", "default", "background", registry.Background)
	k.Delete("configmaps", "default", "foreground", registry.Foreground)
	k.Delete("configmaps", "default", "orphan", registry.Orphan)
	for _, name := range []string{"a", "b", "c"} {
		if !k.Has(secrets, "default", name) {
			t.Errorf("secret %s was deleted while the collector is stopped, want it to exist", name)
		}
	}
	k.start()
	k.waitDeleted(secrets, "default", "a")
	k.waitDeleted(secrets, "default", "b")
	k.waitDeleted(configMaps, "default", "foreground")
	k.waitDeleted(configMaps, "default", "orphan")
	k.wantExists(secrets, "default", "c")
	k.wantEmptyIndex()
}
