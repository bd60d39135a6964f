package authzconfig

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// always is an authorizer with the same decision for all requests, for the modes AlwaysAllow and AlwaysDeny.
type always struct {
	authorizer.AuthorizerFunc
	resources []authorizer.ResourceRuleInfo
	paths     []authorizer.NonResourceRuleInfo
}

// newAlways returns an authorizer that allows all requests, or has no opinion about any, as kube-apiserver's AlwaysDeny.
func newAlways(isAllowed bool) always {
	if !isAllowed {
		return always{AuthorizerFunc: func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "Everything is forbidden.", nil
		}}
	}
	all := []string{"*"}
	return always{
		AuthorizerFunc: func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionAllow, "", nil
		},
		resources: []authorizer.ResourceRuleInfo{&authorizer.DefaultResourceRuleInfo{Verbs: all, APIGroups: all, Resources: all}},
		paths:     []authorizer.NonResourceRuleInfo{&authorizer.DefaultNonResourceRuleInfo{Verbs: all, NonResourceURLs: all}},
	}
}

// RulesFor implements authorizer.RuleResolver.
func (a always) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return a.resources, a.paths, false, nil
}

// masters allows members of system:masters everything.
var masters = authorizer.AuthorizerFunc(func(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	if u := at.GetUser(); u != nil && authn.InGroup(u, authn.MastersGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
})
