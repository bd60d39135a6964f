package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/client"
)

// podSpec returns a Deployment without selector whose pod template has the given containers.
func podSpec(containers ...*applycore.ContainerApplyConfiguration) *applyapps.DeploymentApplyConfiguration {
	return applyapps.Deployment("web", "default").WithSpec(applyapps.DeploymentSpec().
		WithTemplate(applycore.PodTemplateSpec().WithSpec(applycore.PodSpec().WithContainers(containers...))))
}

// TestUnset checks the JSON of a Deployment in which Unset marked a field below spec.template.spec or at the top level.
func TestUnset(t *testing.T) {
	const marker = `{"k8s_io__value":"unset"}`
	for _, test := range []struct{ path, want string }{
		{"spec/replicas", `"spec":{"replicas":` + marker + `,`},
		{"metadata/labels/app", `"metadata":{"labels":{"app":` + marker + `},"name":"web"`},
		{"metadata/labels", `"metadata":{"labels":` + marker + `,`},
		{"spec/template/spec/containers/name=proxy", `"containers":[{"image":"app:1","name":"app"},{"k8s_io__value":"unset","name":"proxy"}]`},
		{"spec/template/spec/containers/name=app", `"containers":[{"k8s_io__value":"unset","name":"app"}]`},
		{"spec/template/spec/containers/name=app/image", `"containers":[{"image":` + marker + `,"name":"app"}]`},
		{"spec/template/spec/containers/name=app/ports/containerPort=80,protocol=TCP", `"ports":[{"containerPort":80,"k8s_io__value":"unset","protocol":"TCP"}]`},
		{`spec/template/spec/containers/{"name":"a,b"}`, `{"k8s_io__value":"unset","name":"a,b"}`},
		{"spec/template/spec/volumes/name=v/hostPath", `"volumes":[{"hostPath":` + marker + `,"name":"v"}]`},
		{"spec/template/metadata/annotations/a.b~c", `"annotations":{"a.b~c":` + marker + `}`},
	} {
		config := podSpec(applycore.Container().WithName("app").WithImage("app:1"))
		got, err := client.Unset(config, strings.Split(test.path, "/")...)
		if err != nil {
			t.Errorf("Unset %s: %v", test.path, err)
			continue
		}
		if text, err := json.Marshal(got); err != nil || !strings.Contains(string(text), test.want) {
			t.Errorf("Unset %s = %s, %v, want JSON that contains %s", test.path, text, err, test.want)
		}
		if text, err := json.Marshal(config); err != nil || strings.Contains(string(text), "k8s_io") {
			t.Errorf("Unset %s changed its argument to %s, %v", test.path, text, err)
		}
	}
}

// TestUnsetErrors checks that Unset returns an error for a path that does not exist in the type of the configuration.
func TestUnsetErrors(t *testing.T) {
	for path, want := range map[string]string{
		"spec/replica":                          `client: spec.replica: expected a field of DeploymentSpecApplyConfiguration, received "replica"`,
		"Spec":                                  `client: Spec: expected a field of DeploymentApplyConfiguration`,
		"spec/replicas/x":                       "client: spec.replicas.x: expected the path of a field, received a path inside of a int32",
		"metadata/finalizers/x":                 "expected a list of items with keys, received a list of string",
		"spec/template/spec/containers/proxy":   `expected list keys such as name=web, received "proxy"`,
		"spec/template/spec/containers/title=x": `expected list keys that are fields of ContainerApplyConfiguration, received "title"`,
		"spec/template/spec/containers/{":       "expected list keys",
		"spec/template/spec/containers/name=a/ports/hostPort=no": "expected a value of type int32 for the list key hostPort",
	} {
		if got, err := client.Unset(podSpec(), strings.Split(path, "/")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Unset %s = %v, %v, want an error that contains %q", path, got, err, want)
		}
	}
	if _, err := client.Unset(podSpec()); err == nil {
		t.Error("Unset without a path succeeded, want an error")
	}
	if _, err := client.Unset((*applyapps.DeploymentApplyConfiguration)(nil), "spec"); err == nil {
		t.Error("Unset of a nil configuration succeeded, want an error")
	}
}

// TestUnsetOnServer applies configurations of client-go with markers: with the dynamic client and with a typed one.
func TestUnsetOnServer(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	clientset, err := kubernetes.NewForConfig(config)
	check(t, err)
	dynamicClient, err := dynamic.NewForConfig(config)
	check(t, err)
	maps := clientset.CoreV1().ConfigMaps("default")
	_, err = maps.Apply(t.Context(), applycore.ConfigMap("c", "default").WithData(map[string]string{"a": "1", "b": "2", "c": "3"}), metav1.ApplyOptions{FieldManager: "author"})
	check(t, err)

	var marked runtime.ApplyConfiguration = applycore.ConfigMap("c", "default")
	for _, key := range []string{"b", "c"} {
		marked, err = client.Unset(marked, "data", key)
		check(t, err)
	}
	object := marked.(*client.Configuration).Unstructured()
	resource := dynamicClient.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default")
	if _, err := resource.Apply(t.Context(), "c", object, metav1.ApplyOptions{FieldManager: "remover"}); !apierrors.IsConflict(err) {
		t.Errorf("Apply without force = %v, want a conflict", err)
	}
	_, err = resource.Apply(t.Context(), "c", object, metav1.ApplyOptions{FieldManager: "remover", Force: true})
	check(t, err)
	text, err := json.Marshal(marked)
	check(t, err)
	got, err := maps.Patch(t.Context(), "c", types.ApplyYAMLPatchType, text, metav1.PatchOptions{FieldManager: "remover"})
	check(t, err)
	if len(got.Data) != 1 || got.Data["a"] != "1" {
		t.Errorf("data = %v, want only a", got.Data)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
