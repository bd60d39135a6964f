package rbac

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// impersonation is one way of being allowed to be taken for somebody else. The last one, which has
// no name, is that of old, with the verb impersonate: it allows all requests. The others have the
// verbs impersonate:NAME for whom, and impersonate-on:NAME:VERB for what.
type impersonation struct {
	name string
	// fits says whether it is for such users at all.
	fits func(requester, wanted *authn.User) bool
	// anyNode says that the node does not matter: it is the one that the requester runs on.
	anyNode bool
}

// impersonations are tried in this order, as Kubernetes does.
var impersonations = []impersonation{
	{name: "associated-node", fits: runsOn, anyNode: true},
	{name: "arbitrary-node", fits: isNodeAlone},
	{name: "serviceaccount", fits: isServiceAccountAlone},
	{name: "user-info", fits: isOther},
	{name: "", fits: func(_, _ *authn.User) bool { return true }},
}

// nodeNameExtra is the extra that tells which node a service account is used on.
const nodeNameExtra = "authentication.kubernetes.io/node-name"

// many is how many checks are replaced by one for all, if that one is successful.
const many = 4

func isAlone(u *authn.User) bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

func isNode(u *authn.User) bool { _, ok := authn.SplitNode(u.Name); return ok }

func isServiceAccount(u *authn.User) bool {
	_, _, ok := authn.SplitServiceAccount(u.Name)
	return ok
}

func isNodeAlone(_, wanted *authn.User) bool { return isAlone(wanted) && isNode(wanted) }

func isServiceAccountAlone(_, wanted *authn.User) bool {
	return isAlone(wanted) && isServiceAccount(wanted)
}

func isOther(_, wanted *authn.User) bool { return !isNode(wanted) && !isServiceAccount(wanted) }

func runsOn(requester, wanted *authn.User) bool {
	name, _ := authn.SplitNode(wanted.Name)
	on := requester.Extra[nodeNameExtra]
	return isNodeAlone(requester, wanted) && isServiceAccount(requester) && len(on) == 1 && on[0] == name
}

// Impersonate returns the user as whom a request is to be served, when its sender asks to be taken
// for the wanted one, or the error to answer with.
func (a *Authorizer) Impersonate(request *Attributes, wanted *authn.User) (*authn.User, error) {
	var first error
	for i := range impersonations {
		how := &impersonations[i]
		if !how.fits(request.User, wanted) {
			continue
		}
		user, err := a.impersonate(how, request, wanted)
		if err == nil {
			return user, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (a *Authorizer) impersonate(how *impersonation, request *Attributes, wanted *authn.User) (*authn.User, error) {
	if how.name != "" {
		on := *request
		on.Verb = "impersonate-on:" + how.name + ":" + request.Verb
		if err := a.Check(&on); err != nil {
			return nil, err
		}
	}
	user := *wanted
	for _, check := range []func(*impersonation, *authn.User, *authn.User) error{
		a.impersonateName, a.impersonateUID, a.impersonateGroups, a.impersonateExtra,
	} {
		if err := check(how, request.User, wanted); err != nil {
			return nil, err
		}
	}
	if len(user.Groups) == 0 {
		user.Groups = how.groups(wanted)
	}
	return user.Complete(), nil
}

// groups returns those of a user for whom none were asked. Those of nodes are not known to the old
// way.
func (how *impersonation) groups(wanted *authn.User) []string {
	if namespace, _, ok := authn.SplitServiceAccount(wanted.Name); ok {
		return authn.ServiceAccountGroups(namespace)
	}
	if how.name != "" && isNode(wanted) {
		return []string{authn.NodesGroup}
	}
	return nil
}

// attributes are what must be allowed to be taken for something. Users and groups are of the core
// for the old way, and of authentication for the others.
func (how *impersonation) attributes(requester *authn.User, resource, name string) *Attributes {
	at := &Attributes{User: requester, Verb: "impersonate", Group: authenticationv1.GroupName, Resource: resource, Name: name}
	if how.name != "" {
		at.Verb += ":" + how.name
	} else if resource != "uids" && resource != "userextras" {
		at.Group = ""
	}
	return at
}

func (a *Authorizer) impersonateName(how *impersonation, requester, wanted *authn.User) error {
	at := how.attributes(requester, "users", wanted.Name)
	if node, ok := authn.SplitNode(wanted.Name); ok && how.name != "" {
		at.Resource, at.Name = "nodes", node
		if how.anyNode {
			at.Name = all
		}
	}
	if namespace, name, ok := authn.SplitServiceAccount(wanted.Name); ok {
		at.Resource, at.Namespace, at.Name = "serviceaccounts", namespace, name
	}
	return a.Check(at)
}

func (a *Authorizer) impersonateUID(how *impersonation, requester, wanted *authn.User) error {
	if wanted.UID == "" {
		return nil
	}
	return a.Check(how.attributes(requester, "uids", wanted.UID))
}

func (a *Authorizer) impersonateGroups(how *impersonation, requester, wanted *authn.User) error {
	at := how.attributes(requester, "groups", "")
	if how.name != "" {
		switch {
		case slices.Contains(wanted.Groups, ""):
			return at.Forbidden("impersonating the empty string group is not allowed")
		case wanted.In(authn.MastersGroup):
			at.Name = authn.MastersGroup
			return at.Forbidden("impersonating the system:masters group is not allowed")
		}
		if len(wanted.Groups) >= many {
			at.Name = all
			if a.Check(at) == nil {
				return nil
			}
		}
	}
	for _, at.Name = range wanted.Groups {
		if err := a.Check(at); err != nil {
			return err
		}
	}
	return nil
}

func (a *Authorizer) impersonateExtra(how *impersonation, requester, wanted *authn.User) error {
	at := how.attributes(requester, "userextras", "")
	count := 0
	for _, values := range wanted.Extra {
		count += max(1, len(values))
	}
	if how.name != "" {
		if err := checkExtra(wanted.Extra); err != nil {
			return at.Forbidden(err.Error())
		}
		if count >= many {
			at.Subresource, at.Name = all, all
			if a.Check(at) == nil {
				return nil
			}
		}
	}
	for _, at.Subresource = range slices.Sorted(maps.Keys(wanted.Extra)) {
		for _, at.Name = range wanted.Extra[at.Subresource] {
			if err := a.Check(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkExtra refuses names that nobody could have by other means.
func checkExtra(extra map[string][]string) error {
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
