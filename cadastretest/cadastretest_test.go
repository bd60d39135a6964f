package cadastretest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/cadastretest"
)

// TestStart checks that several servers can run in parallel, and that each contains only the objects that its own test
// created.
func TestStart(t *testing.T) {
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			client := kubernetes.NewForConfigOrDie(cadastretest.Start(t))
			config := corev1apply.ConfigMap("settings", "default").WithData(map[string]string{"color": "blue"})
			applied, err := client.CoreV1().ConfigMaps("default").Apply(t.Context(), config, metav1.ApplyOptions{FieldManager: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if applied.Data["color"] != "blue" || len(applied.ManagedFields) != 1 {
				t.Errorf("Apply() = %v, want data color=blue and one managed fields entry", applied)
			}
			if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
			list, err := client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 2 {
				t.Errorf("List() = %v, error = %v; want the two ConfigMaps that this test created", list, err)
			}
		})
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		config, stop, err := cadastretest.Open()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Get(b.Context(), "default", metav1.GetOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := stop(); err != nil {
			b.Fatal(err)
		}
	}
}
