package authn

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
)

// User is who somebody is. Requests share users: whoever wants another one makes a copy.
type User struct {
	Name   string
	UID    string
	Groups []string
	// Extra is what else is known, by a lower-case name.
	Extra map[string][]string
}

// The users and groups that mean something to the server itself.
const (
	AnonymousUser        = "system:anonymous"
	UnauthenticatedGroup = "system:unauthenticated"
	AuthenticatedGroup   = "system:authenticated"
	MastersGroup         = "system:masters"
	NodesGroup           = "system:nodes"
	// ServiceAccountsGroup is that of all service accounts. Those of a namespace are also in
	// the group with this name, a colon and the name of the namespace.
	ServiceAccountsGroup = "system:serviceaccounts"
)

const (
	serviceAccountPrefix = "system:serviceaccount:"
	nodePrefix           = "system:node:"
	// credentialID names the extra that tells by what somebody was recognised.
	credentialID = "authentication.kubernetes.io/credential-id"
)

// anonymous is who did not say who they are.
var anonymous = &User{Name: AnonymousUser, Groups: []string{UnauthenticatedGroup}}

// IsAnonymous reports whether nobody has shown who this is.
func (u *User) IsAnonymous() bool { return u.Name == AnonymousUser }

// In reports whether the user is in a group.
func (u *User) In(group string) bool { return slices.Contains(u.Groups, group) }

// with returns the user with one more group, unless it is there already.
func (u *User) with(group string) *User {
	if u.In(group) {
		return u
	}
	more := *u
	more.Groups = append(slices.Clip(slices.Clone(u.Groups)), group)
	return &more
}

// Complete returns the user with the group that tells whether it is known who this is.
func (u *User) Complete() *User {
	switch {
	case u.IsAnonymous():
		return u.with(UnauthenticatedGroup)
	case u.In(UnauthenticatedGroup):
		return u
	}
	return u.with(AuthenticatedGroup)
}

// ServiceAccountUser returns the name of the user that a service account is.
func ServiceAccountUser(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// ServiceAccountGroups returns the groups of the service accounts of a namespace.
func ServiceAccountGroups(namespace string) []string {
	return []string{ServiceAccountsGroup, ServiceAccountsGroup + ":" + namespace}
}

// SplitServiceAccount returns which service account a user is, if it is one.
func SplitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	ok = ok && len(validation.ValidateNamespaceName(namespace, false)) == 0 &&
		len(validation.ValidateServiceAccountName(name, false)) == 0
	if !ok {
		return "", "", false
	}
	return namespace, name, true
}

// SplitNode returns which node a user is, if it is one.
func SplitNode(user string) (name string, ok bool) {
	name, ok = strings.CutPrefix(user, nodePrefix)
	if !ok || len(validation.NameIsDNSSubdomain(name, false)) > 0 {
		return "", false
	}
	return name, true
}
