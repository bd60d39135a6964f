package controllerruntime

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	optout "github.com/cadastre/cadastre/client"
	"github.com/cadastre/cadastre/test/clients/target"
)

// cborGate has kube-apiserver speak CBOR.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

const (
	inJSON     = "application/json"
	inProtobuf = "application/vnd.kubernetes.protobuf"
	inCBOR     = "application/cbor"
)

// TestCacheWithoutManagedFields: a cache of a config that does without never has them, whatever the server sends. Which media
// a cache speaks is seen as well: that of typed objects is the config's, protobuf if it has none (of CBOR see
// TestNoTypedCBOR); unstructured objects come in CBOR if client-go may speak it, and metadata in protobuf.
func TestCacheWithoutManagedFields(t *testing.T) {
	server := target.ConfigWith(t, cborGate)
	clients := kubernetes.NewForConfigOrDie(server)
	for _, test := range []struct {
		name, contentType string
		object            client.Object
		media             []string
	}{
		{"typed-json", inJSON, &corev1.ConfigMap{}, []string{inJSON}},
		{"typed-protobuf", "", &corev1.ConfigMap{}, []string{inProtobuf}},
		{"unstructured", "", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}, []string{inCBOR + "-seq"}},
		{"metadata", "", &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}, []string{inProtobuf}},
	} {
		t.Run(test.name, func(t *testing.T) {
			namespace := "cache-" + test.name
			made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
			_, err := clients.CoreV1().Namespaces().Create(t.Context(), made, metav1.CreateOptions{})
			check(t, err)
			var spoken target.Spoken
			config := optout.WithoutManagedFields(spoken.Config(server))
			config.ContentType = test.contentType
			seeInCache(t, config, clients.CoreV1().ConfigMaps(namespace), test.object, namespace)
			if got := spoken.Media(); !slices.Equal(got, test.media) {
				t.Errorf("the cache speaks %q, expected %q", got, test.media)
			}
		})
	}
}

// seeInCache has a cache see an object that was there before, and one that comes later.
func seeInCache(t *testing.T, config *rest.Config, maps typedcore.ConfigMapInterface, object client.Object, namespace string) {
	objects, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	check(t, err)
	for i, name := range []string{"before", "later"} {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		check(t, err)
		if i == 0 {
			run(t, "the cache", objects)
		}
		key := client.ObjectKey{Namespace: namespace, Name: name}
		eventually(t, "the cache has "+name, func() bool { return objects.Get(t.Context(), key, object) == nil })
		if object.GetName() != name || len(object.GetManagedFields()) > 0 {
			t.Errorf("the cache has %v, expected it without managedFields", object)
		}
	}
}

// TestNoTypedCBOR: controller-runtime has no serializer of typed objects for CBOR. Should it get one, the test above gets a line.
func TestNoTypedCBOR(t *testing.T) {
	config := optout.WithoutManagedFields(target.ConfigWith(t, cborGate))
	config.ContentType = inCBOR
	direct, err := client.New(config, client.Options{})
	check(t, err)
	err = direct.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default"))
	if err == nil || !strings.Contains(err.Error(), inCBOR) {
		t.Errorf("error %v, expected that there is no serializer for %s", err, inCBOR)
	}
}
