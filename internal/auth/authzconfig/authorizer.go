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
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/pkg/authorization/union"

	"github.com/cadastre/cadastre/internal/lib/reload"
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
	all := []union.NamedAuthorizer{{AuthorizerName: "kubernetes.io/system-privileged-group", Authorizer: masters}}
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
		return newAlways(true), nil
	case ModeAlwaysDeny:
		return newAlways(false), nil
	case ModeWebhook:
		return a.newWebhook(c.Name, c.Webhook)
	}
	return nil, fmt.Errorf("authorizer %s: expected a type of %q, received %q", c.Name, Modes, c.Type)
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
