package controllerruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	optout "github.com/cadastre/cadastre/client"
	"github.com/cadastre/cadastre/clients/target"
)

// TestCacheWithoutManagedFields: a cache of a config that does without never has them, whatever the server sends; of
// whole objects and of metadata.
func TestCacheWithoutManagedFields(t *testing.T) {
	namespace := target.Namespace(t)
	config := optout.WithoutManagedFields(target.Config(t))
	direct, err := client.New(config, client.Options{})
	check(t, err)
	objects, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	check(t, err)
	go func() {
		if err := objects.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range []string{"before", "later"} {
		check(t, direct.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
		key := client.ObjectKey{Namespace: namespace, Name: name}
		partial := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
		for _, object := range []client.Object{&corev1.ConfigMap{}, partial} {
			eventually(t, "the cache has "+name, func() bool { return objects.Get(t.Context(), key, object) == nil })
			if object.GetName() != name || len(object.GetManagedFields()) > 0 {
				t.Errorf("the cache has %v, expected it without managedFields", object)
			}
		}
	}
}
