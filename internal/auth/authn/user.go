package authn

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apiserver/pkg/authentication/user"
)

// User is the user.Info that the server's own authenticators return. Users are shared between requests: copy a User before
// changing it.
type User = user.DefaultInfo

// Users and groups that the server treats specially, as Kubernetes does.
const (
	AnonymousUser        = user.Anonymous
	UnauthenticatedGroup = user.AllUnauthenticated
	AuthenticatedGroup   = user.AllAuthenticated
	MastersGroup         = user.SystemPrivilegedGroup
	NodesGroup           = user.NodesGroup
	// ServiceAccountsGroup is the group of all service accounts. The service accounts of a namespace are also in the group
	// system:serviceaccounts:NAMESPACE.
	ServiceAccountsGroup = "system:serviceaccounts"
)

const (
	serviceAccountPrefix = "system:serviceaccount:"
	nodePrefix           = "system:node:"
)

// Anonymous is the user of requests without credentials.
var Anonymous user.Info = &User{Name: AnonymousUser, Groups: []string{UnauthenticatedGroup}}

// Admin is the user in the administrator's client certificate.
var Admin user.Info = &User{Name: AdminUser, Groups: []string{MastersGroup, AuthenticatedGroup}}

// InGroup reports whether a user is a member of a group.
func InGroup(u user.Info, group string) bool { return slices.Contains(u.GetGroups(), group) }

// WithImpliedGroup returns the user as a member of system:authenticated, or of system:unauthenticated if it is the anonymous
// user. If u is in one of these groups already, it returns u itself, otherwise a copy.
func WithImpliedGroup(u *User) *User {
	group := AuthenticatedGroup
	if u.Name == AnonymousUser {
		group = UnauthenticatedGroup
	}
	if InGroup(u, group) || InGroup(u, UnauthenticatedGroup) {
		return u
	}
	with := *u
	with.Groups = append(slices.Clip(slices.Clone(u.Groups)), group)
	return &with
}

// ServiceAccountUser returns the user name of a service account.
func ServiceAccountUser(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// ServiceAccountGroups returns the groups of every service account of a namespace.
func ServiceAccountGroups(namespace string) []string {
	return []string{ServiceAccountsGroup, ServiceAccountsGroup + ":" + namespace}
}

// SplitServiceAccount returns the namespace and name of a service account from its user name; false if the user is not a
// service account.
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

// SplitNode returns the name of a node from the user name of its kubelet; false if the user is not a node.
func SplitNode(user string) (name string, ok bool) {
	name, ok = strings.CutPrefix(user, nodePrefix)
	if !ok || len(validation.NameIsDNSSubdomain(name, false)) > 0 {
		return "", false
	}
	return name, true
}
