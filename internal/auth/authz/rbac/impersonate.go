package rbac

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// impersonationMode is a set of permissions that together allow impersonation (KEP-5284). The legacy mode, whose name is "",
// requires the verb impersonate and allows every request. Any other mode requires the verb impersonate:MODE on the
// impersonated user, and the verb impersonate-on:MODE:VERB on the requested resource.
type impersonationMode struct {
	name string
	// applies reports whether the mode is checked for a requester that impersonates target.
	applies func(requester user.Info, target *authn.User) bool
	// anyNode makes the mode require the permission for all nodes (*) instead of for the impersonated node, on which the
	// requester's pod runs.
	anyNode bool
}

// impersonationModes are tried in this order, as in kube-apiserver. The first mode that allows the impersonation is used.
var impersonationModes = []impersonationMode{
	{name: "associated-node", applies: isAssociatedNode, anyNode: true},
	{name: "arbitrary-node", applies: isPlainNode},
	{name: "serviceaccount", applies: isPlainServiceAccount},
	{name: "user-info", applies: isNeitherNodeNorServiceAccount},
	{name: "", applies: func(user.Info, *authn.User) bool { return true }},
}

// nodeNameExtra is the key of the user extra that names the node on which the pod of a service account runs.
const nodeNameExtra = "authentication.kubernetes.io/node-name"

// minWildcard is the minimum number of groups, or of extra values, for which the permission for * is checked first, as in
// kube-apiserver.
const minWildcard = 4

// isPlain reports whether the impersonation headers specify only a user name: no UID, groups or extra.
func isPlain(target *authn.User) bool {
	return target.UID == "" && len(target.Groups) == 0 && len(target.Extra) == 0
}

func isNode(name string) bool { _, ok := authn.SplitNode(name); return ok }

func isServiceAccount(name string) bool { _, _, ok := authn.SplitServiceAccount(name); return ok }

func isPlainNode(_ user.Info, target *authn.User) bool {
	return isPlain(target) && isNode(target.Name)
}

func isPlainServiceAccount(_ user.Info, target *authn.User) bool {
	return isPlain(target) && isServiceAccount(target.Name)
}

func isNeitherNodeNorServiceAccount(_ user.Info, target *authn.User) bool {
	return !isNode(target.Name) && !isServiceAccount(target.Name)
}

// isAssociatedNode reports whether the impersonated user is the node on which the requester's pod runs.
func isAssociatedNode(requester user.Info, target *authn.User) bool {
	name, _ := authn.SplitNode(target.Name)
	nodes := requester.GetExtra()[nodeNameExtra]
	return isPlainNode(requester, target) && isServiceAccount(requester.GetName()) && len(nodes) == 1 && nodes[0] == name
}

// Impersonate returns the user of a request that impersonates target. If no mode allows the impersonation,
// it returns the error of the first mode that applies.
func Impersonate(ctx context.Context, authorizes authorizer.Authorizer, request *Attributes, target *authn.User) (as user.Info, constraint string, err error) {
	var first error
	for i := range impersonationModes {
		mode := &impersonationModes[i]
		if !mode.applies(request.User, target) {
			continue
		}
		check := &impersonationCheck{impersonationMode: mode, ctx: ctx, authorizer: authorizes, request: request, target: target}
		impersonated, err := check.run()
		if err == nil {
			return impersonated, mode.constraint(), nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, "", first
}

// constraint returns the name of the mode in the audit log: the verb that it requires on the impersonated user, "" for the legacy mode.
func (m *impersonationMode) constraint() string {
	if m.name == "" {
		return ""
	}
	return "impersonate:" + m.name
}

// impersonationCheck checks the permissions of one mode for one request.
type impersonationCheck struct {
	*impersonationMode
	ctx        context.Context
	authorizer authorizer.Authorizer
	request    *Attributes
	target     *authn.User
}

func (c *impersonationCheck) check(at *Attributes) error { return Check(c.ctx, c.authorizer, at) }

func (c *impersonationCheck) run() (*authn.User, error) {
	if c.name != "" {
		on := *c.request
		on.Verb = "impersonate-on:" + c.name + ":" + c.request.Verb
		if err := c.check(&on); err != nil {
			return nil, err
		}
	}
	for _, check := range []func() error{c.checkName, c.checkUID, c.checkGroups, c.checkExtra} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	impersonated := *c.target
	if len(impersonated.Groups) == 0 {
		impersonated.Groups = c.defaultGroups()
	}
	return authn.WithImpliedGroup(&impersonated), nil
}

// defaultGroups returns the groups of the impersonated user if the headers specify none: the groups of service accounts, or
// of nodes. The legacy mode adds no groups to nodes.
func (c *impersonationCheck) defaultGroups() []string {
	if namespace, _, ok := authn.SplitServiceAccount(c.target.Name); ok {
		return authn.ServiceAccountGroups(namespace)
	}
	if c.name != "" && isNode(c.target.Name) {
		return []string{authn.NodesGroup}
	}
	return nil
}

// attributes returns the Attributes of the permission to impersonate one attribute of a user, such as a group. The API group
// is authentication.k8s.io, except that it is the core group for users, groups and service accounts in the legacy mode.
func (c *impersonationCheck) attributes(resource, name string) *Attributes {
	at := &Attributes{User: c.request.User, Verb: "impersonate", Group: authenticationv1.GroupName, Version: "v1", Resource: resource, Name: name}
	if c.name != "" {
		at.Verb += ":" + c.name
	} else if resource != "uids" && resource != "userextras" {
		at.Group = ""
	}
	return at
}

func (c *impersonationCheck) checkName() error {
	at := c.attributes("users", c.target.Name)
	if node, ok := authn.SplitNode(c.target.Name); ok && c.name != "" {
		at.Resource, at.Name = "nodes", node
		if c.anyNode {
			at.Name = wildcard
		}
	}
	if namespace, name, ok := authn.SplitServiceAccount(c.target.Name); ok {
		at.Resource, at.Namespace, at.Name = "serviceaccounts", namespace, name
	}
	return c.check(at)
}

func (c *impersonationCheck) checkUID() error {
	if c.target.UID == "" {
		return nil
	}
	return c.check(c.attributes("uids", c.target.UID))
}

func (c *impersonationCheck) checkGroups() error {
	at := c.attributes("groups", "")
	if c.name != "" {
		switch {
		case slices.Contains(c.target.Groups, ""):
			return at.Forbidden("impersonating the empty string group is not allowed")
		case authn.InGroup(c.target, authn.MastersGroup):
			at.Name = authn.MastersGroup
			return at.Forbidden("impersonating the system:masters group is not allowed")
		}
		if len(c.target.Groups) >= minWildcard {
			at.Name = wildcard
			if c.check(at) == nil {
				return nil
			}
		}
	}
	for _, at.Name = range c.target.Groups {
		if err := c.check(at); err != nil {
			return err
		}
	}
	return nil
}

func (c *impersonationCheck) checkExtra() error {
	at := c.attributes("userextras", "")
	count := 0
	for _, values := range c.target.Extra {
		count += max(1, len(values))
	}
	if c.name != "" {
		if err := validateExtra(c.target.Extra); err != nil {
			return at.Forbidden(err.Error())
		}
		if count >= minWildcard {
			at.Subresource, at.Name = wildcard, wildcard
			if c.check(at) == nil {
				return nil
			}
		}
	}
	for _, at.Subresource = range slices.Sorted(maps.Keys(c.target.Extra)) {
		for _, at.Name = range c.target.Extra[at.Subresource] {
			if err := c.check(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// validateExtra returns an error for the first invalid key or value of a user's extra.
func validateExtra(extra map[string][]string) error {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if key == "" {
			return errors.New("impersonating the empty string key in extra is not allowed")
		}
		if err := validation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); err != nil {
			return fmt.Errorf("impersonating an invalid key in extra is not allowed: %w", err)
		}
		switch {
		case key != strings.ToLower(key):
			return fmt.Errorf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case len(extra[key]) == 0:
			return errors.New("impersonating empty values in extra is not allowed")
		case slices.Contains(extra[key], ""):
			return errors.New("impersonating the empty string value in extra is not allowed")
		}
	}
	return nil
}
