package clientgo

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/test/clients/target"
)

func TestObjectLifecycle(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	created, err := maps.Create(ctx, configMap("one", map[string]string{"a": "1"}), metav1.CreateOptions{})
	check(t, err)
	if created.UID == "" || created.ResourceVersion == "" || created.CreationTimestamp.IsZero() {
		t.Errorf("metadata of the created object = %+v, want uid, resourceVersion and creationTimestamp", created.ObjectMeta)
	}
	if _, err := maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{}); !errors.IsAlreadyExists(err) {
		t.Errorf("second Create() = %v, want AlreadyExists", err)
	}

	created.Data["b"] = "2"
	updated, err := maps.Update(ctx, created, metav1.UpdateOptions{})
	check(t, err)
	if updated.ResourceVersion == created.ResourceVersion || updated.UID != created.UID {
		t.Errorf("after Update(): resourceVersion %s and uid %s, want a resourceVersion other than %[3]s and uid %[4]s",
			updated.ResourceVersion, updated.UID, created.ResourceVersion, created.UID)
	}
	if _, err := maps.Update(ctx, created, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		t.Errorf("Update() with an old resourceVersion = %v, want Conflict", err)
	}
	same, err := maps.Update(ctx, updated, metav1.UpdateOptions{})
	check(t, err)
	if same.ResourceVersion != updated.ResourceVersion {
		t.Errorf("no-op Update(): got resourceVersion %s, want %s unchanged", same.ResourceVersion, updated.ResourceVersion)
	}

	check(t, maps.Delete(ctx, "one", metav1.DeleteOptions{}))
	if _, err := maps.Get(ctx, "one", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("Get() after Delete() = %v, want NotFound", err)
	}
	if err := maps.Delete(ctx, "one", metav1.DeleteOptions{}); !errors.IsNotFound(err) {
		t.Errorf("second Delete() = %v, want NotFound", err)
	}
}

func TestUpdateManagers(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	object, err := maps.Create(ctx, configMap("shared", map[string]string{"a": "1"}), metav1.CreateOptions{FieldManager: "creator"})
	check(t, err)
	object.Data["b"] = "2"
	object, err = maps.Update(ctx, object, metav1.UpdateOptions{})
	check(t, err)

	fields := map[string]string{}
	for _, entry := range object.ManagedFields {
		if entry.Operation != metav1.ManagedFieldsOperationUpdate || entry.FieldsType != "FieldsV1" || entry.APIVersion != "v1" {
			t.Errorf("managed fields entry = %+v, want Update at v1", entry)
		}
		fields[entry.Manager] = entry.FieldsV1.GetRawString()
	}
	want := map[string]string{
		"creator": `{"f:data":{".":{},"f:a":{}},"f:metadata":{"f:labels":{".":{},"f:name":{}}}}`,
		"clients": `{"f:data":{"f:b":{}}}`, // the default field manager is the User-Agent up to the first slash
	}
	if fmt.Sprint(fields) != fmt.Sprint(want) {
		t.Errorf("fieldsV1 by manager = %v\nwant %v", fields, want)
	}
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	object, err := maps.Create(ctx, configMap("guarded", nil), metav1.CreateOptions{})
	check(t, err)
	for _, wrong := range []*metav1.Preconditions{
		{UID: ptr.To(types.UID("other"))},
		{ResourceVersion: ptr.To("1")},
	} {
		if err := maps.Delete(ctx, "guarded", metav1.DeleteOptions{Preconditions: wrong}); !errors.IsConflict(err) {
			t.Errorf("Delete() with preconditions %v = %v, want Conflict", wrong, err)
		}
	}
	right := &metav1.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}
	check(t, maps.Delete(ctx, "guarded", metav1.DeleteOptions{Preconditions: right}))
}

func TestFinalizers(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	object := configMap("finalized", nil)
	object.Finalizers = []string{"example.org/hold"}
	_, err := maps.Create(ctx, object, metav1.CreateOptions{})
	check(t, err)
	check(t, maps.Delete(ctx, "finalized", metav1.DeleteOptions{}))

	held, err := maps.Get(ctx, "finalized", metav1.GetOptions{})
	check(t, err)
	if held.DeletionTimestamp == nil || held.DeletionGracePeriodSeconds == nil || *held.DeletionGracePeriodSeconds != 0 {
		t.Errorf("metadata of the terminating object = %+v, want deletionTimestamp and grace period 0", held.ObjectMeta)
	}
	held.Finalizers = nil
	_, err = maps.Update(ctx, held, metav1.UpdateOptions{})
	check(t, err)
	if _, err := maps.Get(ctx, "finalized", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("Get() after the last finalizer was removed = %v, want NotFound", err)
	}
}

func TestOrphansAndForegroundDeletion(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	for _, test := range []struct {
		name, finalizer string
		policy          metav1.DeletionPropagation
	}{
		{"orphan", metav1.FinalizerOrphanDependents, metav1.DeletePropagationOrphan},
		{"foreground", metav1.FinalizerDeleteDependents, metav1.DeletePropagationForeground},
	} {
		_, err := maps.Create(ctx, configMap(test.name, nil), metav1.CreateOptions{})
		check(t, err)
		check(t, maps.Delete(ctx, test.name, metav1.DeleteOptions{PropagationPolicy: &test.policy}))
		object, err := maps.Get(ctx, test.name, metav1.GetOptions{})
		if target.Implementation() == target.Cadastre {
			testwait.Within(testwait.Timeout, func() bool {
				_, err = maps.Get(ctx, test.name, metav1.GetOptions{})
				return err != nil
			})
			if !errors.IsNotFound(err) {
				t.Errorf("Get() after deletion with %s = %v, want NotFound: there are no dependents", test.policy, err)
			}
			continue
		}
		check(t, err)
		if object.DeletionTimestamp == nil || fmt.Sprint(object.Finalizers) != "["+test.finalizer+"]" {
			t.Errorf("after Delete() with %s: got %v, %v, want the finalizer %s for the garbage collector",
				test.policy, object.DeletionTimestamp, object.Finalizers, test.finalizer)
		}
	}
}

func TestListInPages(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()
	createConfigMaps(t, client, namespace, 5)

	first, err := maps.List(ctx, metav1.ListOptions{Limit: 2})
	check(t, err)
	if len(first.Items) != 2 || first.Continue == "" || first.RemainingItemCount == nil || *first.RemainingItemCount != 3 {
		t.Fatalf("first page: %d items, continue %q, remaining %v; want 2 items and 3 remaining", len(first.Items), first.Continue, first.RemainingItemCount)
	}
	// Objects that are created after the first page was read are not on later pages.
	_, err = maps.Create(ctx, configMap("map-9", nil), metav1.CreateOptions{})
	check(t, err)
	rest, err := maps.List(ctx, metav1.ListOptions{Limit: 10, Continue: first.Continue})
	check(t, err)
	if len(rest.Items) != 3 || rest.Continue != "" || rest.ResourceVersion != first.ResourceVersion {
		t.Errorf("second page: %d items at %s, continue %q; want 3 at %s", len(rest.Items), rest.ResourceVersion, rest.Continue, first.ResourceVersion)
	}
	if _, err := maps.List(ctx, metav1.ListOptions{Limit: 1, Continue: "nonsense"}); !errors.IsBadRequest(err) {
		t.Errorf("List() with an invalid continue token = %v, want BadRequest", err)
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	createConfigMaps(t, client, namespace, 3)

	for _, test := range []struct {
		options metav1.ListOptions
		want    int
	}{
		{metav1.ListOptions{LabelSelector: "name=map-1"}, 1},
		{metav1.ListOptions{LabelSelector: "name!=map-1"}, 2},
		{metav1.ListOptions{LabelSelector: "name in (map-0,map-2)"}, 2},
		{metav1.ListOptions{LabelSelector: "!name"}, 0},
		{metav1.ListOptions{FieldSelector: "metadata.name=map-2"}, 1},
		{metav1.ListOptions{FieldSelector: "metadata.name!=map-2,metadata.namespace=" + namespace}, 2},
	} {
		list, err := maps.List(t.Context(), test.options)
		check(t, err)
		if len(list.Items) != test.want {
			t.Errorf("List(%v) = %d items, want %d", test.options, len(list.Items), test.want)
		}
	}
	for _, wrong := range []metav1.ListOptions{{LabelSelector: "a=b=c"}, {FieldSelector: "data.x=1"}} {
		if _, err := maps.List(t.Context(), wrong); !errors.IsBadRequest(err) {
			t.Errorf("List(%v) = %v, want BadRequest", wrong, err)
		}
	}
}

func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	createConfigMaps(t, client, namespace, 3)

	check(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name!=map-1"}))
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 1 || list.Items[0].Name != "map-1" {
		t.Errorf("ConfigMaps after DeleteCollection = %v, want map-1", names(list))
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	before, err := maps.List(ctx, metav1.ListOptions{})
	check(t, err)
	object, err := maps.Create(ctx, configMap("seen", nil), metav1.CreateOptions{})
	check(t, err)
	object.Labels["extra"] = "yes"
	object, err = maps.Update(ctx, object, metav1.UpdateOptions{})
	check(t, err)
	delete(object.Labels, "name")
	_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
	check(t, err)
	check(t, maps.Delete(ctx, "seen", metav1.DeleteOptions{}))

	// A watch from an earlier resourceVersion receives all events after it.
	all, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	check(t, err)
	defer all.Stop()
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
		event := next(t, all)
		if got := event.Object.(*corev1.ConfigMap); event.Type != want || got.Name != "seen" {
			t.Errorf("event = %s of %s, want %s of seen", event.Type, got.Name, want)
		}
	}

	// A watch with a selector receives DELETED when the object no longer matches.
	selected, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion, LabelSelector: "name=seen"})
	check(t, err)
	defer selected.Stop()
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		if event := next(t, selected); event.Type != want {
			t.Errorf("event with a selector = %s, want %s", event.Type, want)
		}
	}
}

func TestDeletedEventHasRevisionOfDeletion(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	object, err := maps.Create(ctx, configMap("gone", nil), metav1.CreateOptions{})
	check(t, err)
	events, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: object.ResourceVersion})
	check(t, err)
	defer events.Stop()
	check(t, maps.Delete(ctx, "gone", metav1.DeleteOptions{}))
	event := next(t, events)
	if got := event.Object.(*corev1.ConfigMap); event.Type != watch.Deleted || got.ResourceVersion == object.ResourceVersion {
		t.Errorf("event = %s at %s, want DELETED at a resourceVersion after %s", event.Type, got.ResourceVersion, object.ResourceVersion)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	object, err := maps.Create(ctx, configMap("maybe", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	check(t, err)
	if object.UID == "" || object.ResourceVersion != "" {
		t.Errorf("dry run: uid %q, resourceVersion %q; want a uid and no resourceVersion", object.UID, object.ResourceVersion)
	}
	if _, err := maps.Get(ctx, "maybe", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("Get() after a dry run = %v, want NotFound", err)
	}
}

// createConfigMaps creates n ConfigMaps: map-0, map-1, …
func createConfigMaps(t *testing.T, client kubernetes.Interface, namespace string, n int) {
	t.Helper()
	for i := range n {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap(fmt.Sprintf("map-%d", i), nil), metav1.CreateOptions{})
		check(t, err)
	}
}

func names(list *corev1.ConfigMapList) []string {
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names
}

// TestProtobuf checks requests and responses in protobuf, which Kubernetes' own components prefer.
func TestProtobuf(t *testing.T) {
	t.Parallel()
	config := target.Config(t)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	deployments := client.AppsV1().Deployments(target.Namespace(t))
	ctx := t.Context()

	created, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{})
	check(t, err)
	events, err := deployments.Watch(ctx, metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	check(t, err)
	defer events.Stop()
	created.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	_, err = deployments.Update(ctx, created, metav1.UpdateOptions{})
	check(t, err)
	list, err := deployments.List(ctx, metav1.ListOptions{})
	check(t, err)
	if len(list.Items) != 1 || list.Items[0].Spec.Template.Spec.Containers[0].Image != "nginx:2" || len(list.Items[0].ManagedFields) != 1 {
		t.Errorf("List() = %+v, want the updated Deployment", list.Items)
	}
	event := next(t, events)
	if got, ok := event.Object.(*appsv1.Deployment); event.Type != watch.Modified || !ok || *got.Spec.Replicas != 1 {
		t.Errorf("event = %s %+v, want MODIFIED of web", event.Type, event.Object)
	}
	if _, err := deployments.Get(ctx, "none", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("Get(none) = %v, want NotFound", err)
	}
}

func TestWatchTimeout(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	events, err := client.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: ptr.To(int64(1))})
	check(t, err)
	defer events.Stop()
	select {
	case event, open := <-events.ResultChan():
		if open {
			t.Errorf("event = %v, want the end of the watch", event)
		}
	case <-time.After(timeout):
		t.Error("watch with timeoutSeconds=1 did not end")
	}
}
