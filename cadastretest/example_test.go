package cadastretest_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/cadastretest"
)

// TestTwoManagers checks that an apply which changes a field of another field manager is rejected with a conflict.
// docs/testing.md contains this test.
func TestTwoManagers(t *testing.T) {
	t.Parallel()
	client := kubernetes.NewForConfigOrDie(cadastretest.Start(t))
	shops := client.CoreV1().ConfigMaps("default")

	red := corev1.ConfigMap("shop", "default").WithData(map[string]string{"color": "red"})
	if _, err := shops.Apply(t.Context(), red, metav1.ApplyOptions{FieldManager: "alice"}); err != nil {
		t.Fatal(err)
	}
	blue := corev1.ConfigMap("shop", "default").WithData(map[string]string{"color": "blue"})
	if _, err := shops.Apply(t.Context(), blue, metav1.ApplyOptions{FieldManager: "bob"}); !apierrors.IsConflict(err) {
		t.Errorf("Apply() = %v, want a conflict", err)
	}
}

// TestMain is the place to start a server that all tests of a package share.
func ExampleOpen() {
	config, stop, err := cadastretest.Open()
	if err != nil {
		log.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	namespaces, err := client.CoreV1().Namespaces().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range namespaces.Items {
		fmt.Println(n.Name)
	}
	if err := stop(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// default
	// kube-node-lease
	// kube-public
	// kube-system
}
