package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// namespacedName identifies an object of a resource; namespace is "" for cluster-scoped objects.
type namespacedName struct{ namespace, name string }

// role is a Role or ClusterRole that exists, or to which a binding refers.
type role struct {
	key    namespacedName
	exists bool
	// stored are the rules of the stored object, rules the effective ones. For an aggregated role, stored and rules differ until
	// Authorizer.Aggregate has applied the effective rules.
	stored, rules []rbacv1.PolicyRule
	storedKeys    []string // see keysOfStored
	labels        labels.Set
	isAggregated  bool
	selectors     []labels.Selector // selectors of the aggregationRule
	bindings      int               // number of bindings that refer to the role
}

// binding is a RoleBinding or ClusterRoleBinding.
type binding struct {
	key      namespacedName
	ref      rbacv1.RoleRef
	role     *role // nil if the roleRef is invalid
	subjects []rbacv1.Subject
}

// grant is the binding of one subject to a role.
type grant struct {
	binding *binding
	// reason is returned by the authorizer for requests that the grant allows.
	reason string
}

// index contains the roles, and the grants of every user and group. The lock of the Authorizer guards the maps; the lists in
// them are copied on write.
type index struct {
	roles    map[namespacedName]*role
	bindings map[namespacedName]*binding
	// users and groups contain the grants by the namespace of the binding and the name of the subject. A service account is
	// stored under its user name.
	users, groups map[namespacedName][]grant
	// aggregated are the ClusterRoles with an aggregationRule, by name. needsAggregation reports whether their rules must be
	// computed again.
	aggregated       map[string]*role
	needsAggregation bool
}

func newIndex() *index {
	return &index{
		roles: map[namespacedName]*role{}, bindings: map[namespacedName]*binding{},
		users: map[namespacedName][]grant{}, groups: map[namespacedName][]grant{}, aggregated: map[string]*role{},
	}
}

// setRole adds or replaces a Role or ClusterRole.
func (x *index) setRole(at namespacedName, o *object) {
	r := x.roles[at]
	if r == nil {
		r = &role{key: at}
		x.roles[at] = r
	}
	r.exists, r.stored, r.rules, r.storedKeys, r.labels = true, o.Rules, o.Rules, nil, o.Metadata.Labels
	r.isAggregated, r.selectors = o.isAggregated()
	x.recordChange(r)
}

// removeRole removes a role. While bindings refer to it, it stays in the index with exists set to false.
func (x *index) removeRole(at namespacedName) {
	r := x.roles[at]
	if r == nil || !r.exists {
		return
	}
	*r = role{key: at, bindings: r.bindings}
	if r.bindings == 0 {
		delete(x.roles, at)
	}
	x.recordChange(r)
}

// setBinding adds or replaces a binding, and a grant for each of its subjects.
func (x *index) setBinding(at namespacedName, o *object) {
	x.removeBinding(at)
	b := &binding{key: at, ref: o.RoleRef, subjects: o.Subjects}
	x.bindings[at] = b
	if to, ok := b.boundRole(); ok {
		if b.role = x.roles[to]; b.role == nil {
			b.role = &role{key: to}
			x.roles[to] = b.role
		}
		b.role.bindings++
	}
	for i := range b.subjects {
		if in, name := x.list(b, &b.subjects[i]); in != nil {
			at := namespacedName{b.key.namespace, name}
			if !slices.ContainsFunc(in[at], func(g grant) bool { return g.binding == b }) {
				in[at] = append(slices.Clip(in[at]), grant{b, "RBAC: allowed by " + b.describe(&b.subjects[i])})
			}
		}
	}
}

func (x *index) removeBinding(at namespacedName) {
	b := x.bindings[at]
	if b == nil {
		return
	}
	delete(x.bindings, at)
	if b.role != nil {
		if b.role.bindings--; b.role.bindings == 0 && !b.role.exists {
			delete(x.roles, b.role.key)
		}
	}
	for i := range b.subjects {
		in, name := x.list(b, &b.subjects[i])
		if in == nil {
			continue
		}
		at := namespacedName{b.key.namespace, name}
		left := slices.DeleteFunc(slices.Clone(in[at]), func(g grant) bool { return g.binding == b })
		if in[at] = left; len(left) == 0 {
			delete(in, at)
		}
	}
}

// list returns the map that contains the grants of a subject, and the subject's name in that map; nil for an invalid
// subject.
func (x *index) list(b *binding, s *rbacv1.Subject) (grants map[namespacedName][]grant, name string) {
	switch s.Kind {
	case rbacv1.UserKind:
		return x.users, s.Name
	case rbacv1.GroupKind:
		return x.groups, s.Name
	case rbacv1.ServiceAccountKind:
		if namespace := cmp.Or(s.Namespace, b.key.namespace); namespace != "" {
			return x.users, authn.ServiceAccountUser(namespace, s.Name)
		}
	}
	return nil, ""
}

// boundRole returns the namespace and name of the bound role; false if the roleRef is invalid, such as a ClusterRoleBinding
// to a Role.
func (b *binding) boundRole() (at namespacedName, ok bool) {
	switch b.ref.Kind {
	case clusterRoleKind:
		return namespacedName{"", b.ref.Name}, true
	case roleKind:
		return namespacedName{b.key.namespace, b.ref.Name}, b.key.namespace != ""
	}
	return namespacedName{}, false
}

// missingRole returns a text that names the bound role if it does not exist; "" if it exists.
func (b *binding) missingRole() string {
	switch {
	case b.role != nil && b.role.exists:
		return ""
	case b.ref.Kind == clusterRoleKind:
		return fmt.Sprintf("clusterrole.%s %q not found", rbacv1.GroupName, b.ref.Name)
	case b.ref.Kind == roleKind:
		return fmt.Sprintf("role.%s %q not found", rbacv1.GroupName, b.ref.Name)
	}
	return fmt.Sprintf("unsupported role reference kind: %q", b.ref.Kind)
}

// describe returns kube-apiserver's description of the binding of a subject.
func (b *binding) describe(s *rbacv1.Subject) string {
	subject := s.Name
	if s.Kind == rbacv1.ServiceAccountKind {
		subject += "/" + cmp.Or(s.Namespace, b.key.namespace)
	}
	kind, name := clusterRoleBindingKind, b.key.name
	if b.key.namespace != "" {
		kind, name = roleBindingKind, b.key.name+"/"+b.key.namespace
	}
	return kind + " " + strconv.Quote(name) + " of " + b.ref.Kind + " " + strconv.Quote(b.ref.Name) +
		" to " + s.Kind + " " + strconv.Quote(subject)
}

// allowed returns a text that names the binding which allows a request; "" if no rule allows it.
func (x *index) allowed(a *Attributes) string {
	if reason := x.allowedIn("", a); reason != "" || a.Namespace == "" {
		return reason
	}
	return x.allowedIn(a.Namespace, a)
}

func (x *index) allowedIn(namespace string, a *Attributes) string {
	if reason := allowedBy(x.users[namespacedName{namespace, a.User.GetName()}], a); reason != "" {
		return reason
	}
	for _, group := range a.User.GetGroups() {
		if reason := allowedBy(x.groups[namespacedName{namespace, group}], a); reason != "" {
			return reason
		}
	}
	return ""
}

func allowedBy(grants []grant, a *Attributes) string {
	for i := range grants {
		r := grants[i].binding.role
		if r == nil {
			continue
		}
		for j := range r.rules {
			if allows(&r.rules[j], a) {
				return grants[i].reason
			}
		}
	}
	return ""
}

// bindingsOf returns the bindings that apply to a user in a namespace, without duplicates: cluster-scoped bindings first,
// then those of the namespace, each sorted by name.
func (x *index) bindingsOf(u user.Info, namespace string) (found []*binding) {
	add := func(grants []grant) {
		for _, g := range grants {
			found = append(found, g.binding)
		}
	}
	for _, in := range slices.Compact([]string{"", namespace}) {
		add(x.users[namespacedName{in, u.GetName()}])
		for _, group := range u.GetGroups() {
			add(x.groups[namespacedName{in, group}])
		}
	}
	slices.SortFunc(found, func(a, b *binding) int {
		return cmp.Or(cmp.Compare(a.key.namespace, b.key.namespace), cmp.Compare(a.key.name, b.key.name))
	})
	return slices.Compact(found)
}
