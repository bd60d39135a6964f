package clientgo

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/cadastre/cadastre/test/clients/target"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func unstructuredConfigMap(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": name},
		"data":       data,
	}}
}

func TestDynamicClient(t *testing.T) {
	t.Parallel()
	all, err := dynamic.NewForConfig(target.Config(t))
	check(t, err)
	client := all.Resource(configMaps).Namespace(target.Namespace(t))
	ctx := t.Context()

	created, err := client.Apply(ctx, "dynamic", unstructuredConfigMap("dynamic", map[string]any{"a": "1"}), metav1.ApplyOptions{FieldManager: "dynamic"})
	check(t, err)
	events, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: created.GetResourceVersion()})
	check(t, err)
	defer events.Stop()

	check(t, unstructured.SetNestedField(created.Object, "2", "data", "a"))
	updated, err := client.Update(ctx, created, metav1.UpdateOptions{})
	check(t, err)
	if value, _, _ := unstructured.NestedString(updated.Object, "data", "a"); value != "2" {
		t.Errorf("data.a after Update = %q, want 2", value)
	}
	_, err = client.Apply(ctx, "dynamic", unstructuredConfigMap("dynamic", map[string]any{"a": "3"}), metav1.ApplyOptions{FieldManager: "dynamic"})
	if !errors.IsConflict(err) {
		t.Errorf("Apply() of a field that the manager of Update owns = %v, want Conflict", err)
	}

	list, err := client.List(ctx, metav1.ListOptions{})
	check(t, err)
	if list.GetKind() != "ConfigMapList" || len(list.Items) != 1 || list.Items[0].GetKind() != "ConfigMap" {
		t.Errorf("List() = kind %s with %d items, want ConfigMapList with 1", list.GetKind(), len(list.Items))
	}
	check(t, client.Delete(ctx, "dynamic", metav1.DeleteOptions{}))
	for _, want := range []watch.EventType{watch.Modified, watch.Deleted} {
		if event := next(t, events); event.Type != want {
			t.Errorf("event type = %s, want %s", event.Type, want)
		}
	}
}

// TestMetadataClient checks that a metadata client receives PartialObjectMetadata in responses, lists and watches.
func TestMetadataClient(t *testing.T) {
	t.Parallel()
	all, err := metadata.NewForConfig(target.Config(t))
	check(t, err)
	typed, namespace := typedClient(t)
	client := all.Resource(configMaps).Namespace(namespace)
	ctx := t.Context()
	createConfigMaps(t, typed, namespace, 2)

	object, err := client.Get(ctx, "map-1", metav1.GetOptions{})
	check(t, err)
	if object.Labels["name"] != "map-1" || object.UID == "" {
		t.Errorf("Get() = %+v, want labels and uid", object)
	}
	list, err := client.List(ctx, metav1.ListOptions{Limit: 1})
	check(t, err)
	if len(list.Items) != 1 || list.Continue == "" || list.ResourceVersion == "" {
		t.Errorf("List() = %+v, want 1 item and a continue token", list)
	}

	events, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: object.ResourceVersion})
	check(t, err)
	defer events.Stop()
	check(t, client.Delete(ctx, "map-1", metav1.DeleteOptions{}))
	event := next(t, events)
	if got, ok := event.Object.(*metav1.PartialObjectMetadata); event.Type != watch.Deleted || !ok || got.Name != "map-1" {
		t.Errorf("event = %s %+v, want DELETED of map-1", event.Type, event.Object)
	}

	configuration, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "map-0", "annotations": map[string]any{"note": "applied"}},
	})
	check(t, err)
	patched, err := client.Patch(ctx, "map-0", types.ApplyPatchType, configuration, metav1.PatchOptions{FieldManager: "metadata"})
	check(t, err)
	if patched.Annotations["note"] != "applied" {
		t.Errorf("annotations after Patch = %v, want note: applied", patched.Annotations)
	}
	check(t, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name"}))
	if _, err := client.Get(ctx, "map-0", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("Get() after Delete() = %v, want NotFound", err)
	}
}
