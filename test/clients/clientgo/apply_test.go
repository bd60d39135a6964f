package clientgo

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscaling "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
)

// webDeployment returns the apply configuration of a complete Deployment.
func webDeployment(namespace string, replicas int32) *applyapps.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	return applyapps.Deployment("web", namespace).WithSpec(applyapps.DeploymentSpec().
		WithReplicas(replicas).
		WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().WithContainers(
			applycore.Container().WithName("main").WithImage("nginx:1.29").
				WithPorts(applycore.ContainerPort().WithContainerPort(80))))))
}

func TestApplyAndExtract(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	deployments := client.AppsV1().Deployments(namespace)
	ctx := t.Context()

	created, err := deployments.Apply(ctx, webDeployment(namespace, 2), metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	if *created.Spec.Replicas != 2 || created.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || created.Generation != 1 {
		t.Errorf("created spec = %+v, want 2 replicas, defaults and generation 1", created.Spec)
	}
	again, err := deployments.Apply(ctx, webDeployment(namespace, 2), metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	if again.ResourceVersion != created.ResourceVersion {
		t.Errorf("applying the same configuration again changed resourceVersion to %s, want a no-op at %s", again.ResourceVersion, created.ResourceVersion)
	}

	// A client extracts its configuration, changes it and applies it. The extracted configuration contains the fields
	// that the field manager owns, without defaults.
	mine, err := applyapps.ExtractDeployment(again, "ci")
	check(t, err)
	if *mine.Spec.Replicas != 2 || mine.Spec.Strategy != nil || mine.Spec.Template.Spec.Containers[0].ImagePullPolicy != nil {
		t.Errorf("extracted spec = %+v, want 2 replicas without defaults", mine.Spec)
	}
	port := mine.Spec.Template.Spec.Containers[0].Ports[0]
	if *port.ContainerPort != 80 {
		t.Errorf("extracted port = %+v, want 80", port)
	}
	mine.Spec.WithReplicas(3)
	changed, err := deployments.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	if *changed.Spec.Replicas != 3 || changed.Generation != 2 {
		t.Errorf("after the change: %d replicas, generation %d, want 3 and 2", *changed.Spec.Replicas, changed.Generation)
	}
}

func TestApplyConflict(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	deployments := client.AppsV1().Deployments(namespace)
	ctx := t.Context()

	_, err := deployments.Apply(ctx, webDeployment(namespace, 2), metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	scaler := applyapps.Deployment("web", namespace).WithSpec(applyapps.DeploymentSpec().WithReplicas(5))
	_, err = deployments.Apply(ctx, scaler, metav1.ApplyOptions{FieldManager: "scaler"})
	causes := conflictCauses(t, err)
	if len(causes) != 1 || causes[0].Field != ".spec.replicas" || causes[0].Type != metav1.CauseTypeFieldManagerConflict ||
		!strings.HasPrefix(causes[0].Message, `conflict with "ci"`) {
		t.Errorf("conflict causes = %+v, want .spec.replicas of ci", causes)
	}

	forced, err := deployments.Apply(ctx, scaler, metav1.ApplyOptions{FieldManager: "scaler", Force: true})
	check(t, err)
	if got := owners(forced.ManagedFields, `"f:replicas"`); !slices.Equal(got, []string{"scaler"}) {
		t.Errorf("owners of spec.replicas after force = %v, want scaler", got)
	}
	// Applying the same value makes ci a co-owner of the field.
	_, err = deployments.Apply(ctx, webDeployment(namespace, 5), metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	// When scaler releases the field, the value remains, because ci owns it too.
	released, err := deployments.Apply(ctx, applyapps.Deployment("web", namespace), metav1.ApplyOptions{FieldManager: "scaler"})
	check(t, err)
	if *released.Spec.Replicas != 5 || !slices.Equal(owners(released.ManagedFields, `"f:replicas"`), []string{"ci"}) {
		t.Errorf("after scaler released the field: spec.replicas = %d, owned by %v; want 5, owned by ci", *released.Spec.Replicas, owners(released.ManagedFields, `"f:replicas"`))
	}
}

func TestApplyPrunesRemovedFields(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	maps := client.CoreV1().ConfigMaps(namespace)
	ctx := t.Context()

	apply := func(manager string, data map[string]string) *corev1.ConfigMap {
		t.Helper()
		object, err := maps.Apply(ctx, applycore.ConfigMap("shared", namespace).WithData(data), metav1.ApplyOptions{FieldManager: manager})
		check(t, err)
		return object
	}
	apply("one", map[string]string{"both": "x", "one": "1"})
	apply("two", map[string]string{"both": "x", "two": "2"})
	left := apply("one", map[string]string{})
	if len(left.Data) != 2 || left.Data["both"] != "x" || left.Data["two"] != "2" {
		t.Errorf("data after one field manager removed its fields = %v, want both and two", left.Data)
	}
	if left := apply("two", nil); len(left.Data) != 0 {
		t.Errorf("data after both field managers removed their fields = %v, want none", left.Data)
	}
}

func TestApplyStatus(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	deployments := client.AppsV1().Deployments(namespace)
	ctx := t.Context()

	_, err := deployments.Apply(ctx, webDeployment(namespace, 2), metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	status := applyapps.Deployment("web", namespace).
		WithSpec(applyapps.DeploymentSpec().WithReplicas(9)). // spec is a reset field of the status endpoint
		WithStatus(applyapps.DeploymentStatus().WithReplicas(2).WithReadyReplicas(2).WithConditions(
			applyapps.DeploymentCondition().WithType(appsv1.DeploymentAvailable).WithStatus(corev1.ConditionTrue)))
	object, err := deployments.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "controller"})
	check(t, err)
	if *object.Spec.Replicas != 2 || object.Status.ReadyReplicas != 2 || object.Generation != 1 {
		t.Errorf("after ApplyStatus: spec.replicas %d, readyReplicas %d, generation %d; want 2, 2, 1", *object.Spec.Replicas, object.Status.ReadyReplicas, object.Generation)
	}
	if got := owners(object.ManagedFields, `"f:replicas"`); !slices.Equal(got, []string{"ci", "controller/status"}) {
		t.Errorf("owners of replicas = %v, want ci and controller/status", got)
	}
	mine, err := applyapps.ExtractDeploymentStatus(object, "controller")
	check(t, err)
	if mine.Spec != nil || *mine.Status.ReadyReplicas != 2 || len(mine.Status.Conditions) != 1 {
		t.Errorf("ExtractDeploymentStatus() = %+v, want only the status", mine)
	}

	// The main endpoint ignores changes of the status.
	object.Status.ReadyReplicas = 7
	object.Labels = map[string]string{"changed": "yes"}
	object, err = deployments.Update(ctx, object, metav1.UpdateOptions{})
	check(t, err)
	if object.Status.ReadyReplicas != 2 {
		t.Errorf("readyReplicas after Update = %d, want 2", object.Status.ReadyReplicas)
	}
	object.Status.ReadyReplicas = 1
	object.Labels = nil
	object, err = deployments.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	check(t, err)
	if object.Status.ReadyReplicas != 1 || object.Labels["changed"] != "yes" {
		t.Errorf("after UpdateStatus: readyReplicas %d, labels %v; want 1 and unchanged labels", object.Status.ReadyReplicas, object.Labels)
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	deployments := client.AppsV1().Deployments(namespace)
	ctx := t.Context()

	_, err := deployments.Apply(ctx, webDeployment(namespace, 2), metav1.ApplyOptions{FieldManager: "ci"})
	check(t, err)
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	check(t, err)
	if scale.Spec.Replicas != 2 || scale.Status.Selector != "app=web" {
		t.Errorf("scale = %+v, want 2 replicas and selector app=web", scale)
	}

	intent := applyautoscaling.Scale().WithName("web").WithNamespace(namespace).WithSpec(applyautoscaling.ScaleSpec().WithReplicas(4))
	_, err = deployments.ApplyScale(ctx, "web", intent, metav1.ApplyOptions{FieldManager: "hpa"})
	if causes := conflictCauses(t, err); len(causes) != 1 || causes[0].Field != ".spec.replicas" {
		t.Errorf("conflict causes = %+v, want .spec.replicas", causes)
	}
	scale, err = deployments.ApplyScale(ctx, "web", intent, metav1.ApplyOptions{FieldManager: "hpa", Force: true})
	check(t, err)
	if scale.Spec.Replicas != 4 {
		t.Errorf("replicas of the applied scale = %d, want 4", scale.Spec.Replicas)
	}
	object, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	check(t, err)
	if got := owners(object.ManagedFields, `"f:replicas"`); *object.Spec.Replicas != 4 || !slices.Equal(got, []string{"hpa/scale"}) {
		t.Errorf("spec.replicas = %d, owned by %v; want 4, owned by hpa/scale", *object.Spec.Replicas, got)
	}

	stale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace, ResourceVersion: "1"}, Spec: autoscalingv1.ScaleSpec{Replicas: 6}}
	if _, err := deployments.UpdateScale(ctx, "web", stale, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		t.Errorf("UpdateScale() with an old resourceVersion = %v, want Conflict", err)
	}
	stale.ResourceVersion = ""
	scale, err = deployments.UpdateScale(ctx, "web", stale, metav1.UpdateOptions{})
	check(t, err)
	if scale.Spec.Replicas != 6 {
		t.Errorf("replicas of the updated scale = %d, want 6", scale.Spec.Replicas)
	}
}

func TestApplyIsRejected(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	ctx := t.Context()
	apply := func(configuration *applycore.ConfigMapApplyConfiguration, options metav1.ApplyOptions) error {
		_, err := client.CoreV1().ConfigMaps(namespace).Apply(ctx, configuration, options)
		return err
	}
	plain := func() *applycore.ConfigMapApplyConfiguration { return applycore.ConfigMap("refused", namespace) }

	if err := apply(plain(), metav1.ApplyOptions{}); !errors.IsBadRequest(err) && !errors.IsInvalid(err) {
		t.Errorf("apply without fieldManager = %v, want BadRequest or Invalid", err)
	}
	if err := apply(plain().WithUID("1"), metav1.ApplyOptions{FieldManager: "m"}); !errors.IsConflict(err) {
		t.Errorf("apply with a uid of an object that does not exist = %v, want Conflict", err)
	}
	// A resourceVersion in the configuration does not prevent the creation of the object.
	if err := apply(plain().WithResourceVersion("1"), metav1.ApplyOptions{FieldManager: "m"}); err != nil {
		t.Errorf("apply with a resourceVersion of an object that does not exist = %v, want success", err)
	}
	if err := apply(plain().WithUID("1"), metav1.ApplyOptions{FieldManager: "m"}); !errors.IsInvalid(err) {
		t.Errorf("apply with another uid = %v, want Invalid", err)
	}
	if err := apply(plain().WithResourceVersion("1").WithData(map[string]string{"a": "1"}), metav1.ApplyOptions{FieldManager: "m"}); !errors.IsConflict(err) {
		t.Errorf("apply with another resourceVersion = %v, want Conflict", err)
	}
	if err := apply(applycore.ConfigMap("Not_A_Name", namespace), metav1.ApplyOptions{FieldManager: "m"}); !errors.IsInvalid(err) {
		t.Errorf("apply with an invalid name = %v, want Invalid", err)
	}
}

func conflictCauses(t *testing.T, err error) []metav1.StatusCause {
	t.Helper()
	status, ok := err.(errors.APIStatus)
	if !ok || !errors.IsConflict(err) {
		t.Fatalf("error = %v, want Conflict", err)
	}
	return status.Status().Details.Causes
}

// owners returns the field managers of the entries whose fieldsV1 contains the string field, each with its subresource.
func owners(entries []metav1.ManagedFieldsEntry, field string) []string {
	var owners []string
	for _, entry := range entries {
		if entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), field) {
			name := entry.Manager
			if entry.Subresource != "" {
				name += "/" + entry.Subresource
			}
			owners = append(owners, name)
		}
	}
	slices.Sort(owners)
	return owners
}
