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

var errDisk = errors.New("no space left on device")

// count returns the number of objects of a resource in a namespace.
func (k *kit) count(kind, namespace string) int {
	k.Helper()
	list, err := k.all.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: kind, Namespace: namespace}, Freshness: watchcache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

// reconcile calls the controller's reconcile once; an error fails the test.
func (k *kit) reconcile(namespace string) (isDone bool) {
	k.Helper()
	isDone, err := k.controller().reconcile(k.Context(), namespace)
	if err != nil {
		k.Fatal(err)
	}
	return isDone
}

// TestDeleteNamespace: the controller removes namespaces with their content, whether they were deleted before or after its
// start; the content of other namespaces remains.
func TestDeleteNamespace(t *testing.T) {
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
	k.waitDeleted("before")
	k.mustCreate("namespaces", "", named("while"))
	k.mustCreate("configmaps", "while", named("a"))
	k.mustDelete("namespaces", "", "while")
	k.waitDeleted("while")
	for _, namespace := range []string{"before", "while"} {
		if n := k.count(configMaps, namespace) + k.count("core/secrets", namespace); n > 0 {
			t.Errorf("number of objects in the deleted namespace %s = %d, want 0", namespace, n)
		}
	}
	if n := k.count(configMaps, "other") + k.count("core/secrets", "other"); n != 3 {
		t.Errorf("number of objects in the namespace that was not deleted = %d, want 3", n)
	}
}

// TestRestart: a restarted controller continues the deletion of a namespace.
func TestRestart(t *testing.T) {
	k := open(t, nil)
	k.mustCreate("namespaces", "", named("going"))
	k.mustCreate("configmaps", "going", withFinalizer("held", "example.org/hold"))
	stop := k.run()
	k.mustDelete("namespaces", "", "going")
	k.wait("the object to get a deletionTimestamp", func() bool {
		return !k.get(configMaps, "going", "held").Lookup("metadata", "deletionTimestamp").IsAbsent()
	})
	stop()
	k.merge("configmaps", "going", "held", `{"metadata":{"finalizers":null}}`)
	if k.get(Kind, "", "going").IsAbsent() {
		t.Fatal("namespace was deleted while the controller is stopped, want it to exist")
	}
	k.run()
	k.waitDeleted("going")
}

// TestReconcile: reconcile does nothing for a namespace that does not exist or is active, and deletes a terminating
// namespace with its content.
func TestReconcile(t *testing.T) {
	k := open(t, nil)
	if !k.reconcile("nowhere") {
		t.Error("reconcile() of a namespace that does not exist: isDone = false, want true")
	}
	k.mustCreate("namespaces", "", named("n"))
	k.mustCreate("configmaps", "n", named("a"))
	if !k.reconcile("n") || k.count(configMaps, "n") != 1 {
		t.Error("reconcile() of an active namespace is not done or deleted its content, want a no-op")
	}
	k.mustDelete("namespaces", "", "n")
	if !k.reconcile("n") || !k.get(Kind, "", "n").IsAbsent() || k.count(configMaps, "n") != 0 {
		t.Error("terminating namespace or its content exists after one reconcile(), want both deleted")
	}
}

// TestFinalizers: the controller removes its own finalizer from spec.finalizers; the namespace exists as long as it has
// finalizers in its metadata.
func TestFinalizers(t *testing.T) {
	k := open(t, nil)
	k.mustCreate("namespaces", "", withFinalizer("held", "example.org/hold"))
	k.mustDelete("namespaces", "", "held")
	if !k.reconcile("held") {
		t.Error("reconcile(): isDone = false, want true")
	}
	there := k.get(Kind, "", "held")
	if n := there.Lookup("spec", "finalizers").Len(); there.IsAbsent() || n != 0 {
		t.Errorf("namespace = %s, want it to exist without spec.finalizers", there.JSON())
	}
	k.merge("namespaces", "", "held", `{"metadata":{"finalizers":null}}`)
	if !k.get(Kind, "", "held").IsAbsent() {
		t.Error("namespace exists after its last finalizer was removed, want it deleted")
	}
}

// TestPodsFirst: a terminating namespace retains other objects as long as it contains pods. A pod is deleted at the end of
// its grace period.
func TestPodsFirst(t *testing.T) {
	k := open(t, nil)
	now := time.Now()
	k.all.Now = func() time.Time { return now }
	k.mustCreate("namespaces", "", named("n"))
	k.mustCreate("configmaps", "n", named("guard"))
	k.mustCreate("pods", "n", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":60,"containers":[{"name":"c","image":"i"}]}}`)
	k.mustDelete("namespaces", "", "n")
	for range 2 {
		if k.reconcile("n") || k.count("core/pods", "n") != 1 || k.count(configMaps, "n") != 1 {
			t.Fatal("pod, ConfigMap or namespace was deleted during the pod's grace period, want all to exist")
		}
	}
	now = now.Add(2 * time.Minute)
	if !k.reconcile("n") || k.count("core/pods", "n")+k.count(configMaps, "n") != 0 || !k.get(Kind, "", "n").IsAbsent() {
		t.Error("namespace or its content exists after the pod's grace period, want both deleted")
	}
}

// conditions maps the type of each condition of a namespace to "STATUS REASON: MESSAGE".
func conditions(namespace document.Value) map[string]string {
	all := map[string]string{}
	for _, c := range namespace.Lookup("status", "conditions").Items() {
		all[c.Get("type").Text()] = c.Get("status").Text() + " " + c.Get("reason").Text() + ": " + c.Get("message").Text()
	}
	return all
}

// TestConditions: the conditions of a terminating namespace report its remaining content. They are written only if they
// change, and lastTransitionTime changes only with the status.
func TestConditions(t *testing.T) {
	k := open(t, nil)
	now := time.Now().Truncate(time.Second)
	k.all.Now = func() time.Time { return now }
	k.mustCreate("namespaces", "", named("n"))
	k.mustCreate("configmaps", "n", withFinalizer("a", "example.org/one"))
	k.mustCreate("configmaps", "n", withFinalizer("b", "example.org/one"))
	k.mustCreate("secrets", "n", withFinalizer("s", "example.org/two"))
	k.mustDelete("namespaces", "", "n")
	if k.reconcile("n") {
		t.Error("reconcile(): isDone = true with remaining content, want false")
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
			t.Errorf("condition %s = %q, want %q", name, got, text)
		}
	}
	if n := len(conditions(first)); n != len(want) {
		t.Errorf("number of conditions of the namespace = %d, want %d", n, len(want))
	}
	before := now
	now = now.Add(time.Hour)
	k.reconcile("n")
	if again := k.get(Kind, "", "n"); !document.Equal(again, first) {
		t.Errorf("namespace after a second reconcile() = %s, want no write: %s", again.JSON(), first.JSON())
	}
	k.merge("secrets", "n", "s", `{"metadata":{"finalizers":null}}`)
	k.reconcile("n")
	second := k.get(Kind, "", "n")
	if got := conditions(second)["NamespaceFinalizersRemaining"]; !strings.HasSuffix(got, "remaining: example.org/one in 2 resource instances") {
		t.Errorf("condition NamespaceFinalizersRemaining = %q, want only example.org/one", got)
	}
	for _, c := range second.Lookup("status", "conditions").Items() {
		if got := c.Get("lastTransitionTime").Text(); got != before.UTC().Format(time.RFC3339) {
			t.Errorf("lastTransitionTime of %s = %s, want %s: only its message has changed", c.Get("type").Text(), got, before)
		}
	}
}

// TestConditionsOfFailures: an error while the content is deleted is reported in the condition
// NamespaceDeletionContentFailure.
func TestConditionsOfFailures(t *testing.T) {
	k := open(t, nil)
	k.mustCreate("namespaces", "", named("n"))
	k.mustDelete("namespaces", "", "n")
	if err := k.controller().writeConditions(k.Context(), k.get(Kind, "", "n"), &remaining{}, apierrors.NewInternalError(errDisk)); err != nil {
		t.Fatal(err)
	}
	got := conditions(k.get(Kind, "", "n"))["NamespaceDeletionContentFailure"]
	if !strings.HasPrefix(got, "True ContentDeletionFailed: ") || !strings.Contains(got, errDisk.Error()) {
		t.Errorf("condition NamespaceDeletionContentFailure = %q, want True with the error", got)
	}
}
