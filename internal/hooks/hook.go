package hooks

import (
	"fmt"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/webhook"
)

// A hook is a webhook, ready to be asked.
type hook struct {
	name string
	// id tells it apart from all others, by its configuration and which one of that name it is there.
	id         string
	kind       string // metrics.Mutating or metrics.Validating
	criteria   admit.Criteria
	conditions *admit.Conditions
	target     webhook.Target
	// ignores says that the request goes on without it if it can't be asked.
	ignores bool
	// timeout is how long it may take; 0 means as long as the request.
	timeout time.Duration
	// dryRuns says that it may be asked about what will not be done.
	dryRuns bool
	// versions are those of AdmissionReview that it knows, the one that it wants first.
	versions []string
	// again has it asked again if a later one changed something.
	again bool
}

// common is what both kinds of webhooks have.
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

func (c *common) hook(id, kind string) *hook {
	h := &hook{
		name: c.Name, id: id, kind: kind,
		criteria:   admit.NewCriteria(admit.RulesOf(c.Rules), c.MatchPolicy, c.NamespaceSelector, c.ObjectSelector),
		conditions: admit.NewConditions(c.MatchConditions, c.FailurePolicy),
		target:     targetOf(&c.ClientConfig),
		ignores:    admit.Ignores(c.FailurePolicy),
		dryRuns:    c.SideEffects != nil && (*c.SideEffects == registration.SideEffectClassNone || *c.SideEffects == registration.SideEffectClassNoneOnDryRun),
		versions:   c.AdmissionReviewVersions,
	}
	if c.TimeoutSeconds != nil {
		h.timeout = time.Duration(*c.TimeoutSeconds) * time.Second
	}
	return h
}

func targetOf(c *registration.WebhookClientConfig) webhook.Target {
	t := webhook.Target{CABundle: c.CABundle}
	if c.URL != nil {
		t.URL = *c.URL
	}
	if s := c.Service; s != nil {
		t.Service = &webhook.Service{Namespace: s.Namespace, Name: s.Name}
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
func mutating(c *registration.MutatingWebhookConfiguration) (hooks []*hook) {
	ids := identifiers(c.Name)
	for _, w := range c.Webhooks {
		h := (&common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}).hook(ids(w.Name), metrics.Mutating)
		h.again = w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
		hooks = append(hooks, h)
	}
	return hooks
}

// validating returns the webhooks of a configuration.
func validating(c *registration.ValidatingWebhookConfiguration) (hooks []*hook) {
	ids := identifiers(c.Name)
	for _, w := range c.Webhooks {
		hooks = append(hooks, (&common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}).hook(ids(w.Name), metrics.Validating))
	}
	return hooks
}

// identifiers returns what gives webhooks of a configuration their ids. Several may have the same name.
func identifiers(configuration string) func(name string) string {
	count := map[string]int{}
	return func(name string) string {
		count[name]++
		return fmt.Sprintf("%s/%s/%d", configuration, name, count[name])
	}
}
