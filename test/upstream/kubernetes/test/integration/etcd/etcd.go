// Package etcd creates CustomResourceDefinitions for integration tests.
package etcd

import (
	"context"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// CreateTestCRDs creates definitions and waits until discovery lists their served versions.
func CreateTestCRDs(t *testing.T, client clientset.Interface, _ bool, definitions ...*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, d := range definitions {
		if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating the CustomResourceDefinition %s: %v", d.Name, err)
		}
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			return isServed(client, d), nil
		})
		if err != nil {
			t.Fatalf("waiting for discovery of %s: %v", d.Name, err)
		}
	}
}

func isServed(client clientset.Interface, d *apiextensionsv1.CustomResourceDefinition) bool {
	for _, version := range d.Spec.Versions {
		if !version.Served {
			continue
		}
		found, err := client.Discovery().ServerResourcesForGroupVersion(d.Spec.Group + "/" + version.Name)
		if err != nil || !slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool { return r.Name == d.Spec.Names.Plural }) {
			return false
		}
	}
	return true
}

// StorageData is an example object of a resource.
type StorageData struct{ Stub string }

// GetEtcdStorageDataForNamespace returns no examples: the tests that need them are not run.
func GetEtcdStorageDataForNamespace(string) map[schema.GroupVersionResource]StorageData { return nil }

// GetEtcdStorageDataForNamespaceServedAt returns no examples.
func GetEtcdStorageDataForNamespaceServedAt(string, string, bool) map[schema.GroupVersionResource]StorageData {
	return nil
}
