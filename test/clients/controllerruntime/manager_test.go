package controllerruntime

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/test/clients/target"
)

// timeout is the maximum time that a test waits for the reconcilers.
const timeout = 30 * time.Second

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// client-go reads the feature gate when the first client is created.
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		panic(err)
	}
	os.Exit(target.Suite{M: m}.Run())
}

func TestManager(t *testing.T) {
	namespace := target.Namespace(t)
	manager := startManager(t, namespace)
	key := client.ObjectKey{Namespace: namespace, Name: "shop"}
	// A client without a cache reads its own writes.
	direct, err := client.New(target.Config(t), client.Options{})
	check(t, err)

	applyWebsite := func(image, replicas string) {
		t.Helper()
		configuration := applycore.ConfigMap("shop", namespace).
			WithLabels(map[string]string{websiteLabel: "true"}).
			WithData(map[string]string{"image": image, "replicas": replicas})
		check(t, direct.Apply(t.Context(), configuration, client.FieldOwner("user")))
	}
	ready := func() string {
		var object corev1.ConfigMap
		check(t, direct.Get(t.Context(), key, &object))
		return object.Data["ready"]
	}

	applyWebsite("shop:1", "2")
	eventually(t, "2 ready replicas", func() bool { return ready() == "2" })
	applyWebsite("shop:2", "3")
	eventually(t, "3 ready replicas", func() bool { return ready() == "3" })

	var deployment appsv1.Deployment
	check(t, direct.Get(t.Context(), key, &deployment))
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "shop:2" || deployment.Generation != 2 {
		t.Errorf("deployment has image %s and generation %d, want shop:2 and 2", got, deployment.Generation)
	}
	if owner := metav1.GetControllerOf(&deployment); owner == nil || owner.Name != "shop" {
		t.Errorf("controller reference of the deployment = %v, want shop", owner)
	}
	check(t, direct.Get(t.Context(), key, &deployment))
	if got, want := fieldManagers(&deployment), []string{"clients/status", "website"}; !slices.Equal(got, want) {
		t.Errorf("field managers of the deployment = %v, want %v", got, want)
	}

	// Wait until no object is written any more: in the steady state all applies are no-ops, which cause no events.
	eventually(t, "no more writes", func() bool {
		before := deployment.ResourceVersion
		time.Sleep(300 * time.Millisecond) // reconcilers react within milliseconds
		check(t, direct.Get(t.Context(), key, &deployment))
		return before == deployment.ResourceVersion
	})

	// The test deletes the ConfigMap, which includes the field that the website reconciler owns.
	check(t, direct.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}))
	eventually(t, "the ConfigMap to be removed from the cache", func() bool {
		return client.IgnoreNotFound(manager.GetClient().Get(t.Context(), key, &corev1.ConfigMap{})) == nil &&
			manager.GetClient().Get(t.Context(), key, &corev1.ConfigMap{}) != nil
	})
}

// startManager starts a manager with both reconcilers and leader election, and returns it. The manager is stopped at
// the end of the test.
func startManager(t *testing.T, namespace string) ctrl.Manager {
	t.Helper()
	manager, err := ctrl.NewManager(target.Config(t), ctrl.Options{
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection:          true,
		LeaderElectionID:        "website",
		LeaderElectionNamespace: namespace,

		LeaderElectionReleaseOnCancel: true,
	})
	check(t, err)
	check(t, (&websiteReconciler{manager.GetClient()}).register(manager))
	check(t, (&rolloutReconciler{manager.GetClient()}).register(manager))

	run(t, "the manager", manager)
	return manager
}

// run starts runnable in a goroutine, stops it at the end of the test, and fails the test if Start returns an error.
func run(t *testing.T, name string, runnable interface{ Start(context.Context) error }) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- runnable.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%s: Start() = %v, want nil at the end of the test", name, err)
		}
	})
}

// fieldManagers returns the field managers of object, each with its subresource, sorted.
func fieldManagers(object client.Object) []string {
	names := map[string]bool{}
	for _, entry := range object.GetManagedFields() {
		name := entry.Manager
		if entry.Subresource != "" {
			name += "/" + entry.Subresource
		}
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until the condition holds, and fails the test after the timeout.
func eventually(t *testing.T, description string, condition func() bool) {
	t.Helper()
	if !testwait.Within(timeout, condition) {
		t.Fatalf("timed out waiting for: %s", description)
	}
}
