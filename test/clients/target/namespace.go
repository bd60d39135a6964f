package target

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Namespace creates a namespace for the test and returns its name. The namespace is not deleted, because the server is
// discarded after the tests.
func Namespace(t testing.TB) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(Config(t))
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	namespace, err = client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}
