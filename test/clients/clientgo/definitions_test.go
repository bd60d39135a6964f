package clientgo

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/test/clients/target"
)

// definition returns a CustomResourceDefinition whose schema has one field.
func definition(group string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}},
				}},
			}},
		},
	}
}

// isEstablished reports whether the CustomResourceDefinition has the condition Established with status True.
func isEstablished(d *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// TestDefinitions checks the clientset for CustomResourceDefinitions, which prefers protobuf by default, and its
// informers.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	config, ctx := target.Config(t), t.Context()
	client, err := clientset.NewForConfig(config)
	check(t, err)
	factory := externalversions.NewSharedInformerFactory(client, 0)
	informer := factory.Apiextensions().V1().CustomResourceDefinitions()
	informer.Informer()
	factory.Start(ctx.Done())
	t.Cleanup(factory.Shutdown)
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("informer of %v did not sync", kind)
		}
	}
	all := client.ApiextensionsV1().CustomResourceDefinitions()
	made, err := all.Create(ctx, definition(target.Namespace(t)+".example.com"), metav1.CreateOptions{})
	check(t, err)
	eventually(t, "the informer to have the established definition", func() bool {
		seen, err := informer.Lister().Get(made.Name)
		return err == nil && isEstablished(seen)
	})
	read, err := all.Get(ctx, made.Name, metav1.GetOptions{})
	check(t, err)
	if read.UID != made.UID || read.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["size"].Type != "integer" {
		t.Errorf("Get() = %+v, want the created CustomResourceDefinition", read)
	}
	if list, err := all.List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) == 0 {
		t.Errorf("List() = %v, %v, want items", list, err)
	}
	patched, err := all.Patch(ctx, made.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{})
	if err != nil || patched.Labels["seen"] != "yes" {
		t.Errorf("Patch() = %v, %v, want the label", patched, err)
	}
	check(t, all.Delete(ctx, made.Name, metav1.DeleteOptions{}))
	eventually(t, "the informer to observe the deletion", func() bool {
		_, err := informer.Lister().Get(made.Name)
		return err != nil
	})
}

// TestCustomResourcesWithoutProtobuf checks that clients that prefer protobuf receive custom resources in another media
// type that they accept.
func TestCustomResourcesWithoutProtobuf(t *testing.T) {
	t.Parallel()
	config, ctx, namespace := target.Config(t), t.Context(), target.Namespace(t)
	definitions, err := clientset.NewForConfig(config)
	check(t, err)
	group := namespace + ".example.com"
	made, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, definition(group), metav1.CreateOptions{})
	check(t, err)
	t.Cleanup(func() {
		_ = definitions.ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), made.Name, metav1.DeleteOptions{})
	})
	eventually(t, "the definition to be established", func() bool {
		read, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, made.Name, metav1.GetOptions{})
		return err == nil && isEstablished(read)
	})
	config = rest.CopyConfig(config)
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := dynamic.NewForConfig(config)
	check(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}).Namespace(namespace)
	events, err := widgets.Watch(ctx, metav1.ListOptions{})
	check(t, err)
	defer events.Stop()
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "size": int64(1),
	}}
	_, err = widgets.Create(ctx, widget, metav1.CreateOptions{})
	check(t, err)
	if event := next(t, events); event.Type != watch.Added || event.Object.(*unstructured.Unstructured).GetName() != "w" {
		t.Errorf("event = %v, want ADDED of object w", event)
	}
}
