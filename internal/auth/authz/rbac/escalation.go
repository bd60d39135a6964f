package rbac

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// Write is a role or binding that somebody is about to write.
type Write struct {
	User user.Info
	// Kind is one of the four.
	Kind string
	// Namespace and Name are those of the request: what is created by POST has no name there.
	Namespace, Name string
	// New is the object as it would be, after defaults, and Old as it is, nil if it is not, both
	// as JSON.
	New, Old []byte
}

// everything are the rules that somebody must hold who has a role gather the rules of others, since
// nobody knows what those will be.
var everything = []rbacv1.PolicyRule{
	{Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}},
	{Verbs: []string{all}, NonResourceURLs: []string{all}},
}

// full is an object of any of the four kinds, whole.
type full struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule     `json:"rules"`
	AggregationRule   *rbacv1.AggregationRule `json:"aggregationRule"`
	Subjects          []rbacv1.Subject        `json:"subjects"`
	RoleRef           rbacv1.RoleRef          `json:"roleRef"`
}

// CheckEscalation refuses to let somebody give away what they do not have: rules in a role, or a
// role by a binding, that they do not hold all of. Who may escalate a role, or bind it, may do so
// all the same. For other kinds it does nothing. The error is what to answer with.
func (a *Authorizer) CheckEscalation(ctx context.Context, authorizes authorizer.Authorizer, w *Write) error {
	if authn.InGroup(w.User, authn.MastersGroup) || !slices.Contains(Resources, w.Kind) {
		return nil
	}
	var now, before full
	if err := decode(w.New, &now); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if w.Old != nil {
		if err := decode(w.Old, &before); err != nil {
			return apierrors.NewInternalError(err)
		}
		if onlyCollects(&now, &before) {
			return nil
		}
	}
	if isRoles(w.Kind) {
		return a.checkRole(ctx, authorizes, w, &now, &before)
	}
	return a.checkBinding(ctx, authorizes, w, &now)
}

func (w *Write) resource() schema.GroupResource {
	_, resource, _ := strings.Cut(w.Kind, "/")
	return schema.GroupResource{Group: rbacv1.GroupName, Resource: resource}
}

// forbidden refuses a write; the name is the object's own.
func (w *Write) forbidden(o *full, err error) error {
	return apierrors.NewForbidden(w.resource(), o.Name, err)
}

func (a *Authorizer) checkRole(ctx context.Context, authorizes authorizer.Authorizer, w *Write, now, before *full) error {
	err := Check(ctx, authorizes, &Attributes{
		User: w.User, Verb: "escalate", Group: rbacv1.GroupName, Resource: w.resource().Resource,
		Namespace: w.Namespace, Name: w.Name,
	})
	if err == nil {
		return nil
	}
	if err := a.holds(w.User, w.Namespace, now.Rules); err != nil {
		return w.forbidden(now, err)
	}
	if now.gathers() || before.gathers() {
		if err := a.holds(w.User, w.Namespace, everything); err != nil {
			return w.forbidden(now, errors.New("must have cluster-admin privileges to use the aggregationRule"))
		}
	}
	return nil
}

func (o *full) gathers() bool {
	return o.AggregationRule != nil && len(o.AggregationRule.ClusterRoleSelectors) > 0
}

func (a *Authorizer) checkBinding(ctx context.Context, authorizes authorizer.Authorizer, w *Write, now *full) error {
	b := binding{place: place{w.Namespace, now.Name}, ref: now.RoleRef}
	resource := "roles"
	if b.ref.Kind == clusterRoleKind {
		resource = "clusterroles"
	}
	to, ok := b.refersTo()
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("roleRef.kind: %s: expected a kind that a binding of this kind can refer to", b.missingRole()))
	}
	err := Check(ctx, authorizes, &Attributes{
		User: w.User, Verb: "bind", Group: b.ref.APIGroup, Resource: resource, Namespace: w.Namespace, Name: b.ref.Name,
	})
	if err == nil {
		return nil
	}
	rules, ok := a.rulesOf(to)
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: resource}, b.ref.Name)
	}
	if err := a.holds(w.User, w.Namespace, rules); err != nil {
		return w.forbidden(now, err)
	}
	return nil
}

// rulesOf returns the rules of a role.
func (a *Authorizer) rulesOf(at place) (rules []rbacv1.PolicyRule, ok bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	r := a.index.roles[at]
	if r == nil || !r.exists {
		return nil, false
	}
	return r.rules, true
}

// holds says what of some rules a user does not hold in a namespace.
func (a *Authorizer) holds(u user.Info, namespace string, rules []rbacv1.PolicyRule) error {
	if n := things(rules); n > mostThings {
		return fmt.Errorf("user %q can't be compared with these rules, which are about %.0f things one by one, and may be about %d; use several roles", u.GetName(), n, mostThings)
	}
	held, lackErr := a.RulesFor(u, namespace)
	lacks := missing(held, rules)
	if len(lacks) == 0 {
		return nil
	}
	var texts []string
	for _, rule := range compact(lacks) {
		texts = append(texts, describeRule(&rule))
	}
	slices.Sort(texts)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		u.GetName(), u.GetGroups(), strings.Join(slices.Compact(texts), "\n"))
	if lackErr != nil {
		message += fmt.Sprintf("; resolution errors: %v", []error{lackErr})
	}
	return errors.New(message)
}

// compact puts rules about one resource each that differ only in their verbs into one.
func compact(ones []rbacv1.PolicyRule) (rules []rbacv1.PolicyRule) {
	type thing struct{ group, resource, name string }
	at := map[thing]int{}
	for _, one := range ones {
		if len(one.NonResourceURLs) > 0 {
			rules = append(rules, one)
			continue
		}
		key := thing{one.APIGroups[0], one.Resources[0], strings.Join(one.ResourceNames, "")}
		if i, ok := at[key]; ok && len(rules[i].ResourceNames) == len(one.ResourceNames) {
			rules[i].Verbs = append(slices.Clip(rules[i].Verbs), one.Verbs...)
			continue
		}
		at[key] = len(rules)
		rules = append(rules, one)
	}
	return rules
}

func describeRule(rule *rbacv1.PolicyRule) string {
	var parts []string
	for _, part := range []struct {
		name string
		list []string
	}{
		{"APIGroups", rule.APIGroups}, {"Resources", rule.Resources}, {"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames}, {"Verbs", rule.Verbs},
	} {
		if len(part.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", part.name, part.list))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// onlyCollects reports whether a write changes only what the collection of garbage changes: owners
// and finalizers. The collector need not hold what it collects.
func onlyCollects(now, before *full) bool {
	same := *now
	same.OwnerReferences, same.Finalizers = before.OwnerReferences, before.Finalizers
	same.ManagedFields = before.ManagedFields
	same.ResourceVersion = cmp.Or(same.ResourceVersion, before.ResourceVersion)
	return equality.Semantic.DeepEqual(same, *before)
}
