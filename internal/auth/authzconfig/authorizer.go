package authzconfig

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/pkg/authorization/union"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	webhookmetrics "k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"

	"github.com/cadastre/cadastre/internal/lib/reload"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

// Local is an authorizer that also lists the rules of a user, such as RBAC.
type Local interface {
	authorizer.Authorizer
	authorizer.RuleResolver
}

// Dependencies are what an Authorizer uses.
type Dependencies struct {
	RBAC Local
	// RequestTimeout is the maximum time that the authorization of a request takes.
	RequestTimeout time.Duration
	// Files loads the configuration file again when it changes, and Report is called with the result.
	Files  *reload.Reloader
	Report func(error)
}

// Authorizer is the configured list of authorizers. It implements Local, and is safe for concurrent use.
type Authorizer struct {
	Dependencies
	options  Options
	compiler authorizationcel.Compiler
	// required are the types other than webhooks that the first configuration contains.
	required sets.Set[apiserver.AuthorizerType]
	current  atomic.Pointer[chain]
}

// chain is the list of authorizers of one configuration.
type chain struct {
	authorizer.Authorizer
	rules authorizer.RuleResolver
}

// Open returns the authorizer of the options, and adds the configuration file to Dependencies.Files.
func Open(ctx context.Context, o Options, d Dependencies) (*Authorizer, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	a := &Authorizer{Dependencies: d, options: o, compiler: authorizationcel.NewDefaultCompiler()}
	if o.ConfigFile == "" {
		return a, a.use(o.fromFlags())
	}
	return a, d.Files.Add(ctx, reload.Source{Name: "authorization configuration", Files: []string{o.ConfigFile}, Report: d.Report,
		Load: func(_ context.Context, contents [][]byte) error { return a.load(contents[0]) }})
}

// load puts the configuration file into effect.
func (a *Authorizer) load(content []byte) error {
	c, err := a.parse(content)
	if err != nil {
		return err
	}
	types := sets.New[apiserver.AuthorizerType]()
	for _, each := range c.Authorizers {
		if each.Type != apiserver.TypeWebhook {
			types.Insert(each.Type)
		}
	}
	if a.required == nil {
		a.required = types
	}
	if missing := a.required.Difference(types); missing.Len() > 0 {
		return fmt.Errorf("%s: authorizers: expected all types of the configuration with which the server was started, received none of %q; add it, or restart the server", a.options.ConfigFile, sets.List(missing))
	}
	return a.use(c)
}

// use puts a configuration into effect. If it fails, the previous one stays.
func (a *Authorizer) use(c *apiserver.AuthorizationConfiguration) error {
	all := []union.NamedAuthorizer{{AuthorizerName: "kubernetes.io/system-privileged-group", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)}}
	var rules []authorizer.RuleResolver
	for _, each := range c.Authorizers {
		local, err := a.newAuthorizer(each)
		if err != nil {
			return err
		}
		all = append(all, union.NamedAuthorizer{AuthorizerName: each.Name, Authorizer: local})
		rules = append(rules, local)
	}
	combined, err := union.New(all...)
	if err != nil {
		return err
	}
	a.current.Store(&chain{combined, union.NewRuleResolvers(rules...)})
	return nil
}

func (a *Authorizer) newAuthorizer(c apiserver.AuthorizerConfiguration) (Local, error) {
	switch string(c.Type) {
	case ModeRBAC:
		return a.RBAC, nil
	case ModeAlwaysAllow:
		return authorizerfactory.NewAlwaysAllowAuthorizer(), nil
	case ModeAlwaysDeny:
		return authorizerfactory.NewAlwaysDenyAuthorizer(), nil
	case ModeWebhook:
		return a.newWebhook(c.Name, c.Webhook)
	}
	return nil, fmt.Errorf("authorizer %s: expected a type of %q, received %q", c.Name, Modes, c.Type)
}

func (a *Authorizer) newWebhook(name string, c *apiserver.WebhookConfiguration) (Local, error) {
	config, err := webhookutil.LoadKubeconfig(*c.ConnectionInfo.KubeConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("authorization webhook %s: %w", name, err)
	}
	config.Timeout = c.Timeout.Duration
	config.Wrap(webhookclient.RejectRedirects)
	onError := authorizer.DecisionNoOpinion
	if c.FailurePolicy == apiserver.FailurePolicyDeny {
		onError = authorizer.DecisionDeny
	}
	ttl := func(isCached bool, ttl time.Duration) time.Duration {
		if isCached {
			return ttl
		}
		return 0
	}
	w, err := webhook.New(config, c.SubjectAccessReviewVersion, ttl(c.CacheAuthorizedRequests, c.AuthorizedTTL.Duration), ttl(c.CacheUnauthorizedRequests, c.UnauthorizedTTL.Duration),
		webhookclient.AuthRetries(), onError, c.MatchConditions, name, webhookmetrics.NoopAuthorizerMetrics{}, a.compiler)
	if err != nil {
		return nil, fmt.Errorf("authorization webhook %s: %w", name, err)
	}
	return limited{w, a.RequestTimeout}, nil
}

// limited is an authorizer whose decisions take at most a given time.
type limited struct {
	*webhook.WebhookAuthorizer
	timeout time.Duration
}

// Authorize implements authorizer.Authorizer.
func (l limited) Authorize(ctx context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.WebhookAuthorizer.Authorize(ctx, at)
}

// ConditionsAwareAuthorize implements authorizer.Authorizer.
func (l limited) ConditionsAwareAuthorize(ctx context.Context, at authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(l.Authorize(ctx, at))
}

// Authorize implements authorizer.Authorizer.
func (a *Authorizer) Authorize(ctx context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	return a.current.Load().Authorize(ctx, at)
}

// ConditionsAwareAuthorize implements authorizer.Authorizer.
func (a *Authorizer) ConditionsAwareAuthorize(ctx context.Context, at authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return a.current.Load().ConditionsAwareAuthorize(ctx, at)
}

// EvaluateConditions implements authorizer.Authorizer.
func (a *Authorizer) EvaluateConditions(ctx context.Context, decision authorizer.ConditionsAwareDecision, data authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return a.current.Load().EvaluateConditions(ctx, decision, data)
}

// RulesFor implements authorizer.RuleResolver.
func (a *Authorizer) RulesFor(ctx context.Context, u user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return a.current.Load().rules.RulesFor(ctx, u, namespace)
}
