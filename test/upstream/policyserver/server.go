// Package policyserver evaluates MutatingAdmissionPolicies with a Cadastre server, for the packages that replace those of Kubernetes'
// unit tests.
package policyserver

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/cadastre/cadastre/apiserver"
	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// Case is a write of a Deployment for which policies are evaluated.
type Case struct {
	Object *appsv1.Deployment
	// Old is the stored Deployment; nil for a create request.
	Old      *appsv1.Deployment
	Policies []*v1.MutatingAdmissionPolicy
	// Bindings are the bindings of Policies. Without Bindings, each policy gets a binding to all Params.
	Bindings []*v1.MutatingAdmissionPolicyBinding
	Params   []*corev1.ConfigMap
	// Namespace is the namespace of the object; "" means default.
	Namespace string
}

// name is the name for Deployments without a name.
const name = "unnamed"

// Evaluate returns the Deployment after the policies and defaulting. It need not be valid: a webhook rejects the request before
// validation.
func Evaluate(c Case) (*appsv1.Deployment, error) {
	s, err := server()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := context.Background()
	object := c.Object.DeepCopy()
	object.Name, object.Namespace = orElse(object.Name, name), orElse(c.Namespace, orElse(object.Namespace, "default"))
	defer s.cleanUp(ctx, object.Namespace)
	if err := s.prepare(ctx, &c, object); err != nil {
		return nil, err
	}
	s.recorder.enabled, s.recorder.object = true, nil
	defer func() { s.recorder.enabled = false }()
	deployments := s.client.AppsV1().Deployments(object.Namespace)
	if c.Old == nil {
		_, err = deployments.Create(ctx, object, metav1.CreateOptions{})
	} else {
		_, err = deployments.Update(ctx, object, metav1.UpdateOptions{})
	}
	if s.recorder.object == nil {
		return nil, err
	}
	after := &appsv1.Deployment{}
	if err := json.Unmarshal(s.recorder.object, after); err != nil {
		return nil, err
	}
	after.ObjectMeta = metav1.ObjectMeta{
		Name: after.Name, Namespace: after.Namespace, Labels: after.Labels, Annotations: after.Annotations, Finalizers: after.Finalizers,
	}
	if c.Object.Name == "" {
		after.Name = ""
	}
	after.Namespace = c.Object.Namespace
	return after, nil
}

// prepare creates the objects of a case.
func (s *policyServer) prepare(ctx context.Context, c *Case, object *appsv1.Deployment) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.Namespace}}
	if _, err := s.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for i, param := range c.Params {
		param = param.DeepCopy()
		param.TypeMeta, param.Name = metav1.TypeMeta{}, orElse(param.Name, fmt.Sprintf("param-%d", i))
		if _, err := s.client.CoreV1().ConfigMaps(orElse(param.Namespace, object.Namespace)).Create(ctx, param, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if c.Old != nil {
		if _, err := s.client.AppsV1().Deployments(object.Namespace).Create(ctx, valid(c.Old, object), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	bindings := c.Bindings
	for _, policy := range c.Policies {
		policy = policy.DeepCopy()
		policy.Spec.ReinvocationPolicy = v1.ReinvocationPolicyType(orElse(string(policy.Spec.ReinvocationPolicy), string(v1.NeverReinvocationPolicy)))
		if policy.Spec.MatchConstraints == nil {
			policy.Spec.MatchConstraints = deployments()
		}
		if _, err := s.client.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
			return err
		}
		if len(c.Bindings) == 0 {
			bindings = append(bindings, bindingOf(policy))
		}
	}
	for i, binding := range bindings {
		binding = binding.DeepCopy()
		binding.Name = fmt.Sprintf("binding-%d", i)
		if ref := binding.Spec.ParamRef; ref != nil && ref.ParameterNotFoundAction == nil {
			ref.ParameterNotFoundAction = new(v1.DenyAction)
		}
		if _, err := s.client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// valid returns old with the fields that the server requires of stored Deployments.
func valid(old, object *appsv1.Deployment) *appsv1.Deployment {
	old = old.DeepCopy()
	labels := map[string]string{"app": "a"}
	old.TypeMeta, old.Name, old.Namespace = metav1.TypeMeta{}, object.Name, object.Namespace
	old.Spec.Selector, old.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
	if len(old.Spec.Template.Spec.Containers) == 0 {
		old.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	}
	return old
}

func deployments() *v1.MatchResources {
	return &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: rules()[0]}}}
}

// rules returns rules that match create and update requests of Deployments.
func rules() []v1.RuleWithOperations {
	return []v1.RuleWithOperations{{
		Operations: []v1.OperationType{v1.Create, v1.Update},
		Rule:       v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
	}}
}

func bindingOf(policy *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicyBinding {
	binding := &v1.MutatingAdmissionPolicyBinding{Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name}}
	if policy.Spec.ParamKind != nil {
		binding.Spec.ParamRef = &v1.ParamRef{Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: new(v1.DenyAction)}
	}
	return binding
}

// cleanUp deletes the objects of a case.
func (s *policyServer) cleanUp(ctx context.Context, namespace string) {
	var all metav1.ListOptions
	var now metav1.DeleteOptions
	for _, err := range []error{
		s.client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().DeleteCollection(ctx, now, all),
		s.client.AdmissionregistrationV1().MutatingAdmissionPolicies().DeleteCollection(ctx, now, all),
		s.client.CoreV1().ConfigMaps(namespace).DeleteCollection(ctx, now, all),
		s.client.AppsV1().Deployments(namespace).DeleteCollection(ctx, now, all),
	} {
		if err != nil {
			panic(fmt.Sprintf("deleting the objects of a test: %v", err))
		}
	}
}

func orElse(text, alternative string) string {
	if text == "" {
		return alternative
	}
	return text
}

// Deployment converts a Deployment to a typed object with apiVersion and kind.
func Deployment(object any) (*appsv1.Deployment, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	d := &appsv1.Deployment{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	d.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
	return d, nil
}

// ConfigMaps returns parameter objects as ConfigMaps.
func ConfigMaps(objects ...runtime.Object) (maps []*corev1.ConfigMap) {
	for _, object := range objects {
		if m, ok := object.(*corev1.ConfigMap); ok && m != nil {
			maps = append(maps, m)
		}
	}
	return maps
}

type policyServer struct {
	mu       sync.Mutex
	client   *kubernetes.Clientset
	recorder *recorder
}

// server starts the server that all tests of a package share, on the first call. It runs until the process ends.
var server = sync.OnceValues(func() (*policyServer, error) {
	s, err := apiserver.New(apiserver.Options{DisableControllers: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	go func() { _ = s.Run(ctx) }()
	if err := s.WaitReady(ctx); err != nil {
		return nil, err
	}
	config := s.RESTConfig()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	r := &recorder{}
	_, err = client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, r.configuration(), metav1.CreateOptions{})
	return &policyServer{client: client, recorder: r}, err
})

// recorder is a mutating webhook, which is called after the policies. While it is enabled, it records a Deployment and rejects the
// request.
type recorder struct {
	enabled bool
	object  []byte
}

// configuration starts the webhook and returns its configuration.
func (r *recorder) configuration() *v1.MutatingWebhookConfiguration {
	listener := httptest.NewTLSServer(r)
	none := v1.SideEffectClassNone
	return &v1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "recorder"}, Webhooks: []v1.MutatingWebhook{{
		Name: "recorder.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, Rules: rules(),
		ClientConfig: v1.WebhookClientConfig{
			URL:      &listener.URL,
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: listener.Certificate().Raw}),
		},
	}}}
}

// ServeHTTP implements http.Handler.
func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: !r.enabled}
	if r.enabled {
		r.object = review.Request.Object.Raw
	}
	_ = json.NewEncoder(w).Encode(review)
}

// JSON returns a value as maps, lists and scalars.
func JSON(object any) (value any) {
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		panic(err)
	}
	return value
}
