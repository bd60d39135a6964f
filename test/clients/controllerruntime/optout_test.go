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

// cborGate is the argument that enables CBOR in kube-apiserver.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

const (
	inJSON     = "application/json"
	inProtobuf = "application/vnd.kubernetes.protobuf"
	inCBOR     = "application/cbor"
)

// TestCacheWithoutManagedFields checks that the objects in a cache have no managedFields if its config opts out of
// them, whether or not the server supports that. It also checks the media type of the requests: caches of typed objects
// use the media type of the config, which is protobuf by default (for CBOR see TestNoTypedCBOR); caches of unstructured
// objects use CBOR if it is enabled; caches of metadata use protobuf.
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
			var recorder target.MediaRecorder
			config := optout.WithoutManagedFields(recorder.Config(server))
			config.ContentType = test.contentType
			wantInCache(t, config, clients.CoreV1().ConfigMaps(namespace), test.object, namespace)
			if got := recorder.Media(); !slices.Equal(got, test.media) {
				t.Errorf("media types of the cache's requests = %q, want %q", got, test.media)
			}
		})
	}
}

// wantInCache checks that a cache contains an object that was created before the cache started, and an object that was
// created later, both without managedFields.
func wantInCache(t *testing.T, config *rest.Config, maps typedcore.ConfigMapInterface, object client.Object, namespace string) {
	objects, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	check(t, err)
	for i, name := range []string{"before", "later"} {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		check(t, err)
		if i == 0 {
			run(t, "the cache", objects)
		}
		key := client.ObjectKey{Namespace: namespace, Name: name}
		eventually(t, "the cache to have "+name, func() bool { return objects.Get(t.Context(), key, object) == nil })
		if object.GetName() != name || len(object.GetManagedFields()) > 0 {
			t.Errorf("cached object = %v, want no managedFields", object)
		}
	}
}

// TestNoTypedCBOR checks that controller-runtime has no CBOR serializer for typed objects. If the test fails because it
// has one, add a case to TestCacheWithoutManagedFields.
func TestNoTypedCBOR(t *testing.T) {
	config := optout.WithoutManagedFields(target.ConfigWith(t, cborGate))
	config.ContentType = inCBOR
	direct, err := client.New(config, client.Options{})
	check(t, err)
	err = direct.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default"))
	if err == nil || !strings.Contains(err.Error(), inCBOR) {
		t.Errorf("List() = %v, want an error about %s", err, inCBOR)
	}
}
