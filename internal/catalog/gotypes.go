package catalog

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// goTypes finds the Go types of kinds, and the kinds of Go types. It knows those that Kubernetes
// declares; a kind that is added at run time has none.
type goTypes struct{ scheme *runtime.Scheme }

// newGoTypes makes it, which costs milliseconds: nothing is done before documents are asked for.
func newGoTypes() goTypes {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, authenticationv1.AddToScheme,
		authorizationv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme,
		batchv1.AddToScheme, certificatesv1.AddToScheme, coordinationv1.AddToScheme,
		corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme,
		flowcontrolv1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme,
		policyv1.AddToScheme, rbacv1.AddToScheme, resourcev1.AddToScheme,
		schedulingv1.AddToScheme, storagev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // types that contradict each other: a test makes it
		}
	}
	return goTypes{scheme}
}

// of returns the Go type of a kind.
func (g goTypes) of(gvk schema.GroupVersionKind) (reflect.Type, bool) {
	t, ok := g.scheme.KnownTypes(gvk.GroupVersion())[gvk.Kind]
	return t, ok
}

// kindsOf returns the kinds that have a Go type. More than one have those that serve every group,
// such as DeleteOptions.
func (g goTypes) kindsOf(t reflect.Type) []schema.GroupVersionKind {
	object, ok := reflect.New(t).Interface().(runtime.Object)
	if !ok {
		return nil
	}
	found, _, err := g.scheme.ObjectKinds(object)
	if err != nil {
		return nil
	}
	return found
}
