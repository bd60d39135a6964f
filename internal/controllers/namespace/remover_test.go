package namespace

import (
	"errors"
	"strings"
	"testing"

	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const configMaps = "core/configmaps"

var errDisk = errors.New("the disk is full")

// count returns how many objects of a kind there are in a namespace.
func (k *kit) count(kind, namespace string) int {
	k.Helper()
	list, err := k.all.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: kind, Namespace: namespace}, Freshness: watchcache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

// step does one step, which must succeed.
func (k *kit) step(namespace string) (isDone bool) {
	k.Helper()
	isDone, err := k.remover().step(k.Context(), namespace)
	if err != nil {
		k.Fatal(err)
	}
	return isDone
}

// TestRemove: what was there before the remover ran, and what comes while it runs.
func TestRemove(t *testing.T) {
	k := open(t, nil)
	for _, namespace := range []string{"before", "other"} {
		k.mustCreate("namespaces", "", named(namespace))
		for _, name := range []string{"a", "b"} {
			k.mustCreate("configmaps", namespace, named(name))
		}
		k.mustCreate("secrets", namespace, named("s"))
	}
	k.mustDelete("namespaces", "", "before")
	k.run()
	k.waitGone("before")
	k.mustCreate("namespaces", "", named("while"))
	k.mustCreate("configmaps", "while", named("a"))
	k.mustDelete("namespaces", "", "while")
	k.waitGone("while")
	for _, namespace := range []string{"before", "while"} {
		if n := k.count(configMaps, namespace) + k.count("core/secrets", namespace); n > 0 {
			t.Errorf("%d objects are left in %s", n, namespace)
		}
	}
	if n := k.count(configMaps, "other") + k.count("core/secrets", "other"); n != 3 {
		t.Errorf("%d objects are left in the other namespace, want 3", n)
	}
}

// TestGoesOn: a remover that is stopped leaves nothing undone for the next one.
func TestGoesOn(t *testing.T) {
	k := open(t, nil)
	k.mustCreate("namespaces", "", named("going"))
	k.mustCreate("configmaps", "going", heldBy("held", "example.org/hold"))
	stop := k.run()
	k.mustDelete("namespaces", "", "going")
	k.wait("the object is marked", func() bool {
		return !k.get(configMaps, "going", "held").Lookup("metadata", "deletionTimestamp").IsAbsent()
	})
	stop()
	k.merge("configmaps", "going", "held", `{"metadata":{"finalizers":null}}`)
	if k.get(Kind, "", "going").IsAbsent() {
		t.Fatal("it is gone, and nobody removes it")
	}
	k.run()
	k.waitGone("going")
}

// TestStep: steps by hand, for what each leaves.
func TestStep(t *testing.T) {
	k := open(t, nil)
	if !k.step("nowhere") {
		t.Error("a namespace that is not there needs another step")
	}
	k.mustCreate("namespaces", "", named("n"))
	k.mustCreate("configmaps", "n", named("a"))
	if !k.step("n") || k.count(configMaps, "n") != 1 {
		t.Error("a namespace that nobody deleted was touched")
	}
	k.mustDelete("namespaces", "", "n")
	if !k.step("n") || !k.get(Kind, "", "n").IsAbsent() || k.count(configMaps, "n") != 0 {
		t.Error("one step is not enough for what nobody holds")
	}
}

// TestFinalizers: the remover takes away its own, and the namespace stays for those of others.
func TestFinalizers(t *testing.T) {
	k := open(t, nil)
	k.mustCreate("namespaces", "", heldBy("held", "example.org/hold"))
	k.mustDelete("namespaces", "", "held")
	if !k.step("held") {
		t.Error("there is nothing left to do for the remover")
	}
	there := k.get(Kind, "", "held")
	if n := there.Lookup("spec", "finalizers").Len(); there.IsAbsent() || n != 0 {
		t.Errorf("received %s", there.JSON())
	}
	k.merge("namespaces", "", "held", `{"metadata":{"finalizers":null}}`)
	if !k.get(Kind, "", "held").IsAbsent() {
		t.Error("it is there, and nobody holds it")
	}
}

// TestPodsFirst: as long as a pod is there, so is all else. A pod is waited for until its time has
// passed.
func TestPodsFirst(t *testing.T) {
	k := open(t, nil)
	now := time.Now()
	k.all.Now = func() time.Time { return now }
	k.mustCreate("namespaces", "", named("n"))
	k.mustCreate("configmaps", "n", named("guard"))
	k.mustCreate("pods", "n", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":60,"containers":[{"name":"c","image":"i"}]}}`)
	k.mustDelete("namespaces", "", "n")
	for range 2 {
		if k.step("n") || k.count("core/pods", "n") != 1 || k.count(configMaps, "n") != 1 {
			t.Fatal("the pod has time, and what guards it stays")
		}
	}
	now = now.Add(2 * time.Minute)
	if !k.step("n") || k.count("core/pods", "n")+k.count(configMaps, "n") != 0 || !k.get(Kind, "", "n").IsAbsent() {
		t.Error("the time of the pod is over")
	}
}

// conditions returns those of a namespace: type=status reason: message.
func conditions(namespace document.Value) map[string]string {
	all := map[string]string{}
	for _, c := range namespace.Lookup("status", "conditions").Items() {
		all[c.Get("type").Text()] = c.Get("status").Text() + " " + c.Get("reason").Text() + ": " + c.Get("message").Text()
	}
	return all
}

// TestConditions tell what is left, once, and since when.
func TestConditions(t *testing.T) {
	k := open(t, nil)
	now := time.Now().Truncate(time.Second)
	k.all.Now = func() time.Time { return now }
	k.mustCreate("namespaces", "", named("n"))
	k.mustCreate("configmaps", "n", heldBy("a", "example.org/one"))
	k.mustCreate("configmaps", "n", heldBy("b", "example.org/one"))
	k.mustCreate("secrets", "n", heldBy("s", "example.org/two"))
	k.mustDelete("namespaces", "", "n")
	if k.step("n") {
		t.Error("it is not done as long as something is there")
	}
	first := k.get(Kind, "", "n")
	want := map[string]string{
		"NamespaceDeletionDiscoveryFailure":           "False ResourcesDiscovered: All resources successfully discovered",
		"NamespaceDeletionGroupVersionParsingFailure": "False ParsedGroupVersions: All legacy kube types successfully parsed",
		"NamespaceDeletionContentFailure":             "False ContentDeleted: All content successfully deleted, may be waiting on finalization",
		"NamespaceContentRemaining":                   "True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances, secrets. has 1 resource instances",
		"NamespaceFinalizersRemaining":                "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.org/one in 2 resource instances, example.org/two in 1 resource instances",
	}
	for name, text := range want {
		if got := conditions(first)[name]; got != text {
			t.Errorf("%s is %q, want %q", name, got, text)
		}
	}
	if n := len(conditions(first)); n != len(want) {
		t.Errorf("%d conditions, want %d", n, len(want))
	}
	before := now
	now = now.Add(time.Hour)
	k.step("n")
	if again := k.get(Kind, "", "n"); !document.Equal(again, first) {
		t.Errorf("the same is told again: %s, then %s", first.JSON(), again.JSON())
	}
	k.merge("secrets", "n", "s", `{"metadata":{"finalizers":null}}`)
	k.step("n")
	second := k.get(Kind, "", "n")
	if got := conditions(second)["NamespaceFinalizersRemaining"]; !strings.HasSuffix(got, "remaining: example.org/one in 2 resource instances") {
		t.Errorf("received %q", got)
	}
	for _, c := range second.Lookup("status", "conditions").Items() {
		if got := c.Get("lastTransitionTime").Text(); got != before.UTC().Format(time.RFC3339) {
			t.Errorf("%s is so since %s, want %s: only its message has changed", c.Get("type").Text(), got, before)
		}
	}
}

// TestConditionsOfFailures: that something can't be deleted is told, too.
func TestConditionsOfFailures(t *testing.T) {
	k := open(t, nil)
	k.mustCreate("namespaces", "", named("n"))
	k.mustDelete("namespaces", "", "n")
	if err := k.remover().tell(k.Context(), k.get(Kind, "", "n"), &remains{}, apierrors.NewInternalError(errDisk)); err != nil {
		t.Fatal(err)
	}
	got := conditions(k.get(Kind, "", "n"))["NamespaceDeletionContentFailure"]
	if !strings.HasPrefix(got, "True ContentDeletionFailed: ") || !strings.Contains(got, errDisk.Error()) {
		t.Errorf("received %q", got)
	}
}
