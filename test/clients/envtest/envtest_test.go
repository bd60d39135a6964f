package envtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestEnvironment checks that envtest can start Cadastre, install CRDs, add users, and stop Cadastre.
func TestEnvironment(t *testing.T) {
	environment := &envtest.Environment{
		BinaryAssetsDirectory: buildAssets(t),
		CRDs:                  []*apiextensionsv1.CustomResourceDefinition{widgets()},
	}
	config, err := environment.Start()
	check(t, err)
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			check(t, environment.Stop())
		}
	})
	admin, err := client.New(config, client.Options{})
	check(t, err)
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "one", "namespace": "default"},
	}}
	check(t, admin.Create(t.Context(), widget))

	user, err := environment.AddUser(envtest.User{Name: "guest", Groups: []string{"guests"}}, &rest.Config{})
	check(t, err)
	guest, err := client.New(user.Config(), client.Options{})
	check(t, err)
	if err := guest.List(t.Context(), &corev1.PodList{}); !apierrors.IsForbidden(err) {
		t.Errorf("List() by a user without permissions = %v, want Forbidden", err)
	}

	check(t, environment.Stop())
	stopped = true
	if err := admin.List(t.Context(), &corev1.PodList{}); err == nil {
		t.Error("List() succeeded after Stop, want an error")
	}
}

// buildAssets builds cadastre, runs `cadastre envtest`, and returns the folder to which that command wrote the programs
// that envtest starts.
func buildAssets(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "cadastre")
	run(t, "go", "build", "-o", program, "github.com/cadastre/cadastre/cmd/cadastre")
	if got := strings.TrimSpace(run(t, program, "envtest", folder)); got != folder {
		t.Fatalf("cadastre envtest printed %s, want %s", got, folder)
	}
	return folder
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func widgets() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.org", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
