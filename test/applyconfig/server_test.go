package applyconfig

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	kappsv1 "k8s.io/api/apps/v1"
	kcorev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1 "github.com/cadastre/cadastre/applyconfig/apps/v1"
	corev1 "github.com/cadastre/cadastre/applyconfig/core/v1"
	metav1 "github.com/cadastre/cadastre/applyconfig/meta/v1"
	"github.com/cadastre/cadastre/applyruntime"
	"github.com/cadastre/cadastre/cadastretest"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts a server and returns a client config that selects JSON.
func start(t *testing.T, options ...cadastretest.Option) *rest.Config {
	t.Helper()
	config := cadastretest.Start(t, options...)
	config.ContentType = runtime.ContentTypeJSON
	return config
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	check(t, err)
	return string(text)
}

// web returns the apply configuration of a Deployment with two containers and three replicas.
func web() *appsv1.DeploymentApplyConfiguration {
	return appsv1.Deployment("web", "default").
		WithLabels(map[string]string{"app": "web", "tier": "front"}).
		WithSpec(appsv1.DeploymentSpec().
			WithReplicas(3).
			WithSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
			WithTemplate(corev1.PodTemplateSpec().
				WithLabels(map[string]string{"app": "web"}).
				WithSpec(corev1.PodSpec().WithContainers(
					corev1.Container().WithName("app").WithImage("app:1").
						WithPorts(corev1.ContainerPort().WithContainerPort(80).WithName("http")).
						WithReadinessProbe(corev1.Probe().WithHTTPGet(corev1.HTTPGetAction().WithPort(intstr.FromInt32(80)))),
					corev1.Container().WithName("proxy").WithImage("proxy:1"),
				))))
}

// unsetParts returns a configuration that unsets parts of web: a scalar, a map entry, a list item, and a field of a list item.
func unsetParts() *appsv1.DeploymentApplyConfiguration {
	return appsv1.Deployment("web", "default").
		UnsetLabelsEntry("tier").
		WithSpec(appsv1.DeploymentSpec().
			UnsetReplicas().
			WithTemplate(corev1.PodTemplateSpec().WithSpec(corev1.PodSpec().WithContainers(
				corev1.Container().WithName("proxy").Unset(),
				corev1.Container().WithName("app").UnsetReadinessProbe().WithPorts(corev1.ContainerPort().WithContainerPort(80).Unset()),
			))))
}

// wantUnset checks that a Deployment has none of the values that unsetParts unsets.
func wantUnset(t *testing.T, d *kappsv1.Deployment) {
	t.Helper()
	if _, found := d.Labels["tier"]; found || d.Labels["app"] != "web" {
		t.Errorf("labels = %v, want only app", d.Labels)
	}
	if d.Spec.Replicas == nil || *d.Spec.Replicas != 1 {
		t.Errorf("replicas = %v, want the default 1", d.Spec.Replicas)
	}
	containers := d.Spec.Template.Spec.Containers
	if len(containers) != 1 || containers[0].Name != "app" || containers[0].ReadinessProbe != nil || len(containers[0].Ports) != 0 {
		t.Errorf("containers = %s, want only app, without a readiness probe and ports", asJSON(t, containers))
	}
}

// TestControllerRuntime checks that Client.Apply of controller-runtime accepts the configurations.
func TestControllerRuntime(t *testing.T) {
	t.Parallel()
	config := start(t)
	c, err := client.New(config, client.Options{})
	check(t, err)
	clientset, err := kubernetes.NewForConfig(config)
	check(t, err)
	check(t, c.Apply(t.Context(), web(), client.FieldOwner("author")))
	err = c.Apply(t.Context(), unsetParts(), client.FieldOwner("remover"))
	if !apierrors.IsConflict(err) {
		t.Fatalf("apply of markers without force = %v, want a conflict with the author", err)
	}
	check(t, c.Apply(t.Context(), unsetParts(), client.FieldOwner("remover"), client.ForceOwnership))
	d, err := clientset.AppsV1().Deployments("default").Get(t.Context(), "web", kmetav1.GetOptions{})
	check(t, err)
	wantUnset(t, d)
	if err := c.Apply(t.Context(), web(), client.FieldOwner("author")); !apierrors.IsConflict(err) {
		t.Errorf("apply of the values by the author = %v, want a conflict with the remover, which owns their absence", err)
	}
}

// TestTypedPatch checks that Extract returns the configurations that a typed client of client-go has applied.
func TestTypedPatch(t *testing.T) {
	t.Parallel()
	clientset, err := kubernetes.NewForConfig(start(t))
	check(t, err)
	deployments := clientset.AppsV1().Deployments("default")
	patch := func(manager string, content types.PatchType, body []byte) *kappsv1.Deployment {
		t.Helper()
		d, err := deployments.Patch(t.Context(), "web", content, body, kmetav1.PatchOptions{FieldManager: manager, Force: new(bool)})
		check(t, err)
		return d
	}
	author := patch("author", types.ApplyYAMLPatchType, []byte(asJSON(t, web())))
	extracted, err := appsv1.ExtractDeployment(author, "author")
	check(t, err)
	if got, want := asJSON(t, extracted), asJSON(t, web()); !equalJSON(got, want) {
		t.Errorf("ExtractDeployment = %s, want the applied configuration, %s", got, want)
	}

	// The field manager remover unsets fields that have no value, and owns them from then on.
	absent := appsv1.Deployment("web", "default").UnsetLabelsEntry("zone").WithSpec(appsv1.DeploymentSpec().UnsetMinReadySeconds().
		WithTemplate(corev1.PodTemplateSpec().WithSpec(corev1.PodSpec().UnsetAffinity().WithContainers(corev1.Container().WithName("debug").Unset()))))
	before := patch("remover", types.ApplyYAMLPatchType, []byte(asJSON(t, absent)))
	again, err := appsv1.ExtractDeployment(before, "remover")
	check(t, err)
	if got, want := asJSON(t, again), asJSON(t, absent); !equalJSON(got, want) {
		t.Errorf("ExtractDeployment = %s, want the markers that were applied, %s", got, want)
	}
	body, err := direct.Marshal(again)
	check(t, err)
	if after := patch("remover", types.ApplyCBORPatchType, body); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("applying the extracted configuration in CBOR wrote revision %s after %s, want no write", after.ResourceVersion, before.ResourceVersion)
	}
}

// TestCBOR applies configurations that Kubernetes' CBOR encoder has encoded.
func TestCBOR(t *testing.T) {
	t.Parallel()
	clientset, err := kubernetes.NewForConfig(start(t))
	check(t, err)
	force := true
	var last *kappsv1.Deployment
	for i, config := range []*appsv1.DeploymentApplyConfiguration{web(), unsetParts()} {
		body, err := direct.Marshal(config)
		check(t, err)
		last, err = clientset.AppsV1().Deployments("default").Patch(t.Context(), "web", types.ApplyCBORPatchType, body,
			kmetav1.PatchOptions{FieldManager: []string{"author", "remover"}[i], Force: &force})
		check(t, err)
	}
	wantUnset(t, last)
}

// TestDynamic applies configurations with the dynamic client, as unstructured objects.
func TestDynamic(t *testing.T) {
	t.Parallel()
	c, err := dynamic.NewForConfig(start(t))
	check(t, err)
	maps := c.Resource(kcorev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default")
	apply := func(manager string, config *corev1.ConfigMapApplyConfiguration) *unstructured.Unstructured {
		t.Helper()
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(config)
		check(t, err)
		object, err := maps.Apply(t.Context(), "c", &unstructured.Unstructured{Object: content}, kmetav1.ApplyOptions{FieldManager: manager, Force: true})
		check(t, err)
		return object
	}
	apply("author", corev1.ConfigMap("c", "default").WithData(map[string]string{"a": "1", "b": "2"}))
	object := apply("remover", corev1.ConfigMap("c", "default").UnsetDataEntry("b").UnsetImmutable())
	if data, _, _ := unstructured.NestedStringMap(object.Object, "data"); !reflect.DeepEqual(data, map[string]string{"a": "1"}) {
		t.Errorf("data = %v, want only a", data)
	}
	var read corev1.ConfigMapApplyConfiguration
	check(t, applyruntime.Extract(object, &read, "v1", "remover", ""))
	if got, want := asJSON(t, read), `{"immutable":{"k8s_io__value":"unset"},"data":{"b":{"k8s_io__value":"unset"}}}`; got != want {
		t.Errorf("Extract from an unstructured object = %s, want %s", got, want)
	}
	var converted corev1.ConfigMapApplyConfiguration
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&read)
	check(t, err)
	check(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, &converted))
	if !reflect.DeepEqual(converted, read) {
		t.Errorf("FromUnstructured(ToUnstructured(config)) = %s, want %s", asJSON(t, converted), asJSON(t, read))
	}
}

// TestStatus applies to the status subresource, and unsets a condition by its key.
func TestStatus(t *testing.T) {
	t.Parallel()
	clientset, err := kubernetes.NewForConfig(start(t, cadastretest.WithoutControllers()))
	check(t, err)
	deployments := clientset.AppsV1().Deployments("default")
	force := true
	options := kmetav1.PatchOptions{FieldManager: "author", Force: &force}
	_, err = deployments.Patch(t.Context(), "web", types.ApplyYAMLPatchType, []byte(asJSON(t, web())), options)
	check(t, err)
	status := func(manager string, s *appsv1.DeploymentStatusApplyConfiguration) *kappsv1.Deployment {
		t.Helper()
		options.FieldManager = manager
		body := asJSON(t, appsv1.Deployment("web", "default").WithStatus(s))
		d, err := deployments.Patch(t.Context(), "web", types.ApplyYAMLPatchType, []byte(body), options, "status")
		check(t, err)
		return d
	}
	status("controller", appsv1.DeploymentStatus().WithReplicas(3).WithConditions(
		appsv1.DeploymentCondition().WithType("Available").WithStatus("True"), appsv1.DeploymentCondition().WithType("Progressing").WithStatus("True")))
	d := status("other", appsv1.DeploymentStatus().WithConditions(appsv1.DeploymentCondition().WithType("Progressing").Unset()))
	if len(d.Status.Conditions) != 1 || d.Status.Conditions[0].Type != "Available" {
		t.Errorf("conditions = %v, want only Available", d.Status.Conditions)
	}
	extracted, err := appsv1.ExtractDeploymentStatus(d, "other")
	check(t, err)
	if got := asJSON(t, extracted.Status); !strings.Contains(got, `{"type":"Progressing","k8s_io__value":"unset"}`) {
		t.Errorf("ExtractDeploymentStatus = %s, want the marker of the condition", got)
	}
	if none, err := appsv1.ExtractDeployment(d, "other"); err != nil || none.Status != nil || none.Spec != nil {
		t.Errorf("ExtractDeployment of a manager of the status = %s, %v, want only the identity", asJSON(t, none), err)
	}
}

// TestSecret checks that stringData, which the server moves to data, is extracted as text.
func TestSecret(t *testing.T) {
	t.Parallel()
	clientset, err := kubernetes.NewForConfig(start(t))
	check(t, err)
	config := corev1.Secret("s", "default").WithStringData(map[string]string{"password": "x"})
	secret, err := clientset.CoreV1().Secrets("default").Patch(t.Context(), "s", types.ApplyYAMLPatchType, []byte(asJSON(t, config)), kmetav1.PatchOptions{FieldManager: "author"})
	check(t, err)
	if extracted, err := corev1.ExtractSecret(secret, "author"); err != nil || extracted.StringData["password"] != "x" {
		t.Errorf("ExtractSecret = %s, %v, want stringData password: x", asJSON(t, extracted), err)
	}
}

func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
