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

// webhook is one webhook of a configuration, ready to be called.
type webhook struct {
	name string
	// id identifies the webhook among all configurations: the configuration's name, its own name, and its number among
	// those of that name.
	id         string
	kind       string // metrics.Mutating or metrics.Validating
	criteria   admission.Criteria
	conditions *admission.Conditions
	target     webhookclient.Target
	// ignores reports whether failed calls are ignored (failurePolicy: Ignore).
	ignores bool
	// timeout is the maximum duration of a call; 0 means that of the request.
	timeout time.Duration
	// supportsDryRun reports whether calls have no side effects in dry runs.
	supportsDryRun bool
	// versions are the versions of AdmissionReview that it accepts, the preferred one first.
	versions []string
	// reinvoke reports whether it is called again if the object changes after its call.
	reinvoke bool
}

// common has the fields that mutating and validating webhooks share.
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

// mutating returns the webhooks of a configuration.
func mutating(c *registration.MutatingWebhookConfiguration) (all []*webhook) {
	ids := identifiers(c.Name)
	for _, w := range c.Webhooks {
		made := (&common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}).webhook(ids(w.Name), metrics.Mutating)
		made.reinvoke = w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
		all = append(all, made)
	}
	return all
}

// validating returns the webhooks of a configuration.
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

// identifiers returns a function that numbers the webhooks of a configuration. Several may have the same name.
func identifiers(configuration string) func(name string) string {
	count := map[string]int{}
	return func(name string) string {
		count[name]++
		return fmt.Sprintf("%s/%s/%d", configuration, name, count[name])
	}
}
