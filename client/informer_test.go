package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/cadastre/cadastre/client"
)

// withoutContext returns a ListWatch for ConfigMaps that has only the deprecated functions, which accept no context.
func withoutContext(t *testing.T, clients kubernetes.Interface) *cache.ListWatch {
	maps := clients.CoreV1().ConfigMaps("default")
	return &cache.ListWatch{
		//lint:ignore SA1019 tests the deprecated functions
		ListFunc: func(o metav1.ListOptions) (runtime.Object, error) { return maps.List(t.Context(), o) },
		//lint:ignore SA1019 tests the deprecated functions
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(t.Context(), o) },
	}
}

// TestInformerRequests checks that the lists and watches of OptOutListerWatcher send the parameter drop, and that other
// requests of the same client do not.
func TestInformerRequests(t *testing.T) {
	config := startServer(t, true)
	var recorder acceptRecorder
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		recorder.next = next
		return &recorder
	})
	maps := kubernetes.NewForConfigOrDie(client.OptOutOnRequest(config)).CoreV1().ConfigMaps("default")
	lister := cache.ToListerWatcherWithContext(client.OptOutListerWatcher(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(ctx, o) },
	}))
	if _, err := lister.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	events, err := lister.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events.Stop()
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false} {
		if got := strings.Contains(recorder.accepts[i], ";drop=metadata.managedFields"); got != want {
			t.Errorf("request %d: Accept = %q; has the parameter drop = %v, want %v", i, recorder.accepts[i], got, want)
		}
	}
}

// TestInformerWithoutContext checks that OptOutListerWatcher removes managedFields from decoded objects if the ListerWatcher
// accepts no context and the server therefore sends managedFields.
func TestInformerWithoutContext(t *testing.T) {
	clients := kubernetes.NewForConfigOrDie(client.OptOutOnRequest(startServer(t, true)))
	expectNoManagedFields(t, clients, client.OptOutListerWatcher(withoutContext(t, clients)))
}

// TestInformerOfFakes checks that OptOutListerWatcher works with client-go's fake clients, which do not support WatchList.
func TestInformerOfFakes(t *testing.T) {
	clients := fake.NewClientset()
	lister := cache.ToListWatcherWithWatchListSemantics(withoutContext(t, clients), clients)
	expectNoManagedFields(t, clients, client.OptOutListerWatcher(lister))
}

// expectNoManagedFields checks that an informer of lister receives an object from a list, and another object from a watch,
// without managedFields.
func expectNoManagedFields(t *testing.T, clients kubernetes.Interface, lister cache.ListerWatcher) {
	t.Helper()
	create := func(name string) {
		owned := configMap(name)
		owned.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "me", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:a":{}}}`)}}
		created, err := clients.CoreV1().ConfigMaps("default").Create(t.Context(), owned, metav1.CreateOptions{})
		if err != nil || entryCount(t, created) == 0 {
			t.Fatalf("Create() = %v, error = %v; want an object with managedFields", created, err)
		}
	}
	create("before")
	objects := informerOf(t, lister)
	create("later")
	for _, name := range []string{"before", "later"} {
		if o := waitFor(t, objects, "default/"+name); entryCount(t, o) != 0 || o.Data["a"] != "b" {
			t.Errorf("object in the informer's store = %v, want data a=b and no managedFields", o)
		}
	}
}

// TestInformerGate checks that an informer with OptOutListerWatcher receives managedFields in lists and watch events if the
// feature gate is disabled.
func TestInformerGate(t *testing.T) {
	t.Setenv("KUBE_FEATURE_"+client.FeatureGate, "false")
	maps := kubernetes.NewForConfigOrDie(client.OptOutOnRequest(startServer(t, true))).CoreV1().ConfigMaps("default")
	lister := client.OptOutListerWatcher(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(ctx, o) },
	})
	if _, err := maps.Create(t.Context(), configMap("before"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := cache.ToListerWatcherWithContext(lister).ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all := list.(*corev1.ConfigMapList).Items; len(all) == 0 || entryCount(t, &all[len(all)-1]) == 0 {
		t.Errorf("List() = %v, want managedFields", all)
	}
	if o := waitFor(t, informerOf(t, lister), "default/before"); entryCount(t, o) == 0 {
		t.Errorf("object in the informer's store = %v, want managedFields", o)
	}
}
