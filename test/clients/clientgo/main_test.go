package clientgo

import (
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/test/clients/target"
)

// timeout is the maximum time that tests wait for events and conditions.
const timeout = 30 * time.Second

func TestMain(m *testing.M) {
	allowCBOR()
	os.Exit(target.Suite{M: m}.Run())
}

// typedClient returns a typed client of the server under test, and a new namespace for the test.
func typedClient(t *testing.T) (*kubernetes.Clientset, string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(target.Config(t))
	check(t, err)
	return client, target.Namespace(t)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// configMap returns a ConfigMap with a label that selectors of the tests use.
func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}},
		Data:       data,
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.29"}}},
			},
		},
	}
}

// next returns the next event of a watch, and skips bookmarks. It fails the test if the watch ends or times out.
func next(t *testing.T, events watch.Interface) watch.Event {
	t.Helper()
	for {
		if event := nextOrBookmark(t, events); event.Type != watch.Bookmark {
			return event
		}
	}
}

func nextOrBookmark(t *testing.T, events watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, open := <-events.ResultChan():
		if !open {
			t.Fatal("the watch ended, want another event")
		}
		return event
	case <-time.After(timeout):
		t.Fatal("timed out waiting for an event of the watch")
	}
	return watch.Event{}
}

// eventually waits until the condition holds, and fails the test after the timeout.
func eventually(t *testing.T, description string, condition func() bool) {
	t.Helper()
	if !testwait.Within(timeout, condition) {
		t.Fatalf("timed out waiting for: %s", description)
	}
}
