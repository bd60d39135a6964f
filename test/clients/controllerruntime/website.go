package controllerruntime

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// websiteLabel marks the ConfigMaps that specify a website.
const websiteLabel = "website"

// websiteManager is the field manager of the website reconciler.
const websiteManager client.FieldOwner = "website"

// websiteReconciler applies a Deployment for each ConfigMap that specifies a website.
type websiteReconciler struct{ client client.Client }

func (r *websiteReconciler) register(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("website").
		For(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Complete(r)
}

// Reconcile applies the Deployment of a ConfigMap, and then the number of ready replicas to the ConfigMap.
func (r *websiteReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var website corev1.ConfigMap
	if err := r.client.Get(ctx, request.NamespacedName, &website); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if website.Labels[websiteLabel] != "true" || website.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	deployment, err := websiteDeployment(&website)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.client.Apply(ctx, deployment, websiteManager, client.ForceOwnership); err != nil {
		return reconcile.Result{}, fmt.Errorf("applying the deployment: %w", err)
	}
	var live appsv1.Deployment
	if err := r.client.Get(ctx, request.NamespacedName, &live); err != nil {
		// The cache does not contain the Deployment yet. The event that adds it triggers another call.
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	ready := applycore.ConfigMap(website.Name, website.Namespace).
		WithData(map[string]string{"ready": strconv.Itoa(int(live.Status.ReadyReplicas))})
	if err := r.client.Apply(ctx, ready, websiteManager); err != nil && !errors.IsConflict(err) {
		return reconcile.Result{}, fmt.Errorf("applying the ready replicas: %w", err)
	}
	return reconcile.Result{}, nil
}

func websiteDeployment(website *corev1.ConfigMap) (*applyapps.DeploymentApplyConfiguration, error) {
	replicas, err := strconv.Atoi(website.Data["replicas"])
	if err != nil {
		return nil, reconcile.TerminalError(fmt.Errorf("replicas: expected a number, received %q", website.Data["replicas"]))
	}
	labels := map[string]string{"app": website.Name}
	owner := applymeta.OwnerReference().WithAPIVersion("v1").WithKind("ConfigMap").
		WithName(website.Name).WithUID(website.UID).WithController(true).WithBlockOwnerDeletion(true)
	return applyapps.Deployment(website.Name, website.Namespace).WithOwnerReferences(owner).
		WithSpec(applyapps.DeploymentSpec().
			WithReplicas(int32(replicas)).
			WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().WithContainers(
				applycore.Container().WithName("site").WithImage(website.Data["image"]))))), nil
}
