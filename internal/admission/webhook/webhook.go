package webhook

import (
	"fmt"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
	"github.com/cadastre/cadastre/internal/metrics"
)

// webhook is one webhook of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
type webhook struct {
	name string
	// id identifies the webhook among all configurations: the name of the configuration, the name of the webhook, and its index
	// among the webhooks of that name.
	id         string
	kind       string // metrics.Mutating or metrics.Validating
	criteria   admission.Criteria
	conditions *admission.Conditions
	target     webhookclient.Target
	// ignores reports whether failed calls are ignored (failurePolicy: Ignore).
	ignores bool
	// timeout is the maximum duration of a call; 0 means that only the deadline of the request applies.
	timeout time.Duration
	// supportsDryRun reports whether the webhook has no side effects in dry runs (sideEffects: None or NoneOnDryRun).
	supportsDryRun bool
	// versions are the AdmissionReview versions that the webhook accepts, in order of preference.
	versions []string
	// reinvoke reports whether the webhook is called again if the object changes after its call (reinvocationPolicy:
	// IfNeeded).
	reinvoke bool
}

// common contains the fields that mutating and validating webhooks share.
type common struct {
	Name                    string
	ClientConfig            registration.WebhookClientConfig
	Rules                   []registration.RuleWithOperations
	FailurePolicy           *registration.FailurePolicyType
	MatchPolicy             *registration.MatchPolicyType
	NamespaceSelector       *metav1.LabelSelector
	ObjectSelector          *metav1.LabelSelector
	SideEffects             *registration.SideEffectClass
	TimeoutSeconds          *int32
	AdmissionReviewVersions []string
	MatchConditions         []registration.MatchCondition
}

func (c *common) webhook(id, kind string) *webhook {
	w := &webhook{
		name: c.Name, id: id, kind: kind,
		criteria:       admission.NewCriteria(admission.RulesOf(c.Rules), c.MatchPolicy, c.NamespaceSelector, c.ObjectSelector),
		conditions:     admission.NewConditions(c.MatchConditions, c.FailurePolicy),
		target:         targetOf(&c.ClientConfig),
		ignores:        admission.Ignores(c.FailurePolicy),
		supportsDryRun: c.SideEffects != nil && (*c.SideEffects == registration.SideEffectClassNone || *c.SideEffects == registration.SideEffectClassNoneOnDryRun),
		versions:       c.AdmissionReviewVersions,
	}
	if c.TimeoutSeconds != nil {
		w.timeout = time.Duration(*c.TimeoutSeconds) * time.Second
	}
	return w
}

func targetOf(c *registration.WebhookClientConfig) webhookclient.Target {
	t := webhookclient.Target{CABundle: c.CABundle}
	if c.URL != nil {
		t.URL = *c.URL
	}
	if s := c.Service; s != nil {
		t.Service = &webhookclient.Service{Namespace: s.Namespace, Name: s.Name}
		if s.Path != nil {
			t.Service.Path = *s.Path
		}
		if s.Port != nil {
			t.Service.Port = *s.Port
		}
	}
	return t
}

// mutating returns the webhooks of a MutatingWebhookConfiguration.
func mutating(c *registration.MutatingWebhookConfiguration) (all []*webhook) {
	ids := identifiers(c.Name)
	for _, w := range c.Webhooks {
		one := (&common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}).webhook(ids(w.Name), metrics.Mutating)
		one.reinvoke = w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
		all = append(all, one)
	}
	return all
}

// validating returns the webhooks of a ValidatingWebhookConfiguration.
func validating(c *registration.ValidatingWebhookConfiguration) (all []*webhook) {
	ids := identifiers(c.Name)
	for _, w := range c.Webhooks {
		all = append(all, (&common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}).webhook(ids(w.Name), metrics.Validating))
	}
	return all
}

// identifiers returns a function that returns a unique id for each webhook of a configuration, even if webhooks have equal
// names.
func identifiers(configuration string) func(name string) string {
	count := map[string]int{}
	return func(name string) string {
		count[name]++
		return fmt.Sprintf("%s/%s/%d", configuration, name, count[name])
	}
}
