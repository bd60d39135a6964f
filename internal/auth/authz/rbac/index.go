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

// place is a name within a namespace, or, with none, one for the whole cluster.
type place struct{ namespace, name string }

// role is what there is at a place that bindings refer to, which may be nothing yet.
type role struct {
	place  place
	exists bool
	// stored are the rules in the object, rules those that count: they differ for a role that
	// gathers others' until what it gathered is written.
	stored, rules []rbacv1.PolicyRule
	labels        labels.Set
	gathers       bool
	selectors     []labels.Selector // whose rules it gathers
	bindings      int               // how many refer to it
}

// binding gives the rules of a role to subjects.
type binding struct {
	place    place
	ref      rbacv1.RoleRef
	role     *role // nil if there can be none
	subjects []rbacv1.Subject
}

// grant is a binding as one of its subjects has it.
type grant struct {
	binding *binding
	// reason says by what something is allowed.
	reason string
}

// index finds the rules that a user has. The maps are guarded by the Authorizer's lock; the lists
// in them are never changed, but replaced.
type index struct {
	roles    map[place]*role
	bindings map[place]*binding
	// users and groups have the grants by the namespace of the binding and the name of the
	// subject. Service accounts are users.
	users, groups map[place][]grant
	// gatherers are the roles that gather others' rules; stale says that what they gather must
	// be found out anew.
	gatherers map[string]*role
	stale     bool
}

func newIndex() *index {
	return &index{
		roles: map[place]*role{}, bindings: map[place]*binding{},
		users: map[place][]grant{}, groups: map[place][]grant{}, gatherers: map[string]*role{},
	}
}

// setRole puts a role in the place of what is there.
func (x *index) setRole(at place, o *object) {
	r := x.roles[at]
	if r == nil {
		r = &role{place: at}
		x.roles[at] = r
	}
	gathered := x.isGathered(r)
	r.exists, r.stored, r.rules, r.labels = true, o.Rules, o.Rules, o.Metadata.Labels
	r.gathers, r.selectors = o.gathers()
	x.noteChange(r, gathered)
}

// removeRole leaves an empty place if bindings refer to it.
func (x *index) removeRole(at place) {
	r := x.roles[at]
	if r == nil || !r.exists {
		return
	}
	gathered := x.isGathered(r)
	*r = role{place: at, bindings: r.bindings}
	if r.bindings == 0 {
		delete(x.roles, at)
	}
	x.noteChange(r, gathered)
}

// setBinding puts a binding in the place of what is there.
func (x *index) setBinding(at place, o *object) {
	x.removeBinding(at)
	b := &binding{place: at, ref: o.RoleRef, subjects: o.Subjects}
	x.bindings[at] = b
	if to, ok := b.refersTo(); ok {
		if b.role = x.roles[to]; b.role == nil {
			b.role = &role{place: to}
			x.roles[to] = b.role
		}
		b.role.bindings++
	}
	for i := range b.subjects {
		if in, name := x.list(b, &b.subjects[i]); in != nil {
			at := place{b.place.namespace, name}
			if !slices.ContainsFunc(in[at], func(g grant) bool { return g.binding == b }) {
				in[at] = append(slices.Clip(in[at]), grant{b, "RBAC: allowed by " + b.describe(&b.subjects[i])})
			}
		}
	}
}

func (x *index) removeBinding(at place) {
	b := x.bindings[at]
	if b == nil {
		return
	}
	delete(x.bindings, at)
	if b.role != nil {
		if b.role.bindings--; b.role.bindings == 0 && !b.role.exists {
			delete(x.roles, b.role.place)
		}
	}
	for i := range b.subjects {
		in, name := x.list(b, &b.subjects[i])
		if in == nil {
			continue
		}
		at := place{b.place.namespace, name}
		left := slices.DeleteFunc(slices.Clone(in[at]), func(g grant) bool { return g.binding == b })
		if in[at] = left; len(left) == 0 {
			delete(in, at)
		}
	}
}

// list returns where the grants of a subject are, and what it is called there; nil for a subject
// that nobody can be.
func (x *index) list(b *binding, s *rbacv1.Subject) (in map[place][]grant, name string) {
	switch s.Kind {
	case rbacv1.UserKind:
		return x.users, s.Name
	case rbacv1.GroupKind:
		return x.groups, s.Name
	case rbacv1.ServiceAccountKind:
		if namespace := cmp.Or(s.Namespace, b.place.namespace); namespace != "" {
			return x.users, authn.ServiceAccountUser(namespace, s.Name)
		}
	}
	return nil, ""
}

// refersTo returns the place of the role. A binding for the cluster has no namespace to look for
// a role in.
func (b *binding) refersTo() (at place, ok bool) {
	switch b.ref.Kind {
	case clusterRoleKind:
		return place{"", b.ref.Name}, true
	case roleKind:
		return place{b.place.namespace, b.ref.Name}, b.place.namespace != ""
	}
	return place{}, false
}

// missingRole describes the role that a binding refers to if it does not exist; "" if it does.
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

// describe says what a binding gives to whom.
func (b *binding) describe(s *rbacv1.Subject) string {
	subject := s.Name
	if s.Kind == rbacv1.ServiceAccountKind {
		subject += "/" + cmp.Or(s.Namespace, b.place.namespace)
	}
	kind, name := clusterRoleBindingKind, b.place.name
	if b.place.namespace != "" {
		kind, name = roleBindingKind, b.place.name+"/"+b.place.namespace
	}
	return kind + " " + strconv.Quote(name) + " of " + b.ref.Kind + " " + strconv.Quote(b.ref.Name) +
		" to " + s.Kind + " " + strconv.Quote(subject)
}

// allowed returns the reason why something is allowed, or "".
func (x *index) allowed(a *Attributes) string {
	if reason := x.allowedIn("", a); reason != "" || a.Namespace == "" {
		return reason
	}
	return x.allowedIn(a.Namespace, a)
}

func (x *index) allowedIn(namespace string, a *Attributes) string {
	if reason := allowedBy(x.users[place{namespace, a.User.GetName()}], a); reason != "" {
		return reason
	}
	for _, group := range a.User.GetGroups() {
		if reason := allowedBy(x.groups[place{namespace, group}], a); reason != "" {
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

// bindingsOf returns the bindings that a user has in a namespace, each once: those for the cluster
// first, by name.
func (x *index) bindingsOf(u user.Info, namespace string) (found []*binding) {
	add := func(grants []grant) {
		for _, g := range grants {
			found = append(found, g.binding)
		}
	}
	for _, in := range slices.Compact([]string{"", namespace}) {
		add(x.users[place{in, u.GetName()}])
		for _, group := range u.GetGroups() {
			add(x.groups[place{in, group}])
		}
	}
	slices.SortFunc(found, func(a, b *binding) int {
		return cmp.Or(cmp.Compare(a.place.namespace, b.place.namespace), cmp.Compare(a.place.name, b.place.name))
	})
	return slices.Compact(found)
}
