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

// Write is a write of a role or binding that CheckEscalation checks.
type Write struct {
	User user.Info
	// Kind is the written resource as GROUP/RESOURCE in storage keys: one of Resources.
	Kind string
	// Namespace and Name are those of the request path; Name is "" for a create by POST.
	Namespace, Name string
	// New is the object to store, with defaults, and Old the stored object, both as JSON. Old is nil for a create.
	New, Old []byte
}

// allPermissions are the rules that a user must hold to write an aggregationRule, because the rules that the role will
// aggregate are unknown.
var allPermissions = []rbacv1.PolicyRule{
	{Verbs: []string{wildcard}, APIGroups: []string{wildcard}, Resources: []string{wildcard}},
	{Verbs: []string{wildcard}, NonResourceURLs: []string{wildcard}},
}

// rbacObject is a Role, ClusterRole, RoleBinding or ClusterRoleBinding, with the fields of all four kinds.
type rbacObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule     `json:"rules"`
	AggregationRule   *rbacv1.AggregationRule `json:"aggregationRule"`
	Subjects          []rbacv1.Subject        `json:"subjects"`
	RoleRef           rbacv1.RoleRef          `json:"roleRef"`
}

// CheckEscalation returns a 403 for a write by which a user would grant permissions that the user does not hold, in a role or
// with a binding. The verb escalate on the role, or bind on the bound role, allows such a write. It returns nil for writes of
// other resources. Every error is an API status.
func (a *Authorizer) CheckEscalation(ctx context.Context, authorizes authorizer.Authorizer, w *Write) error {
	if authn.InGroup(w.User, authn.MastersGroup) || !slices.Contains(Resources, w.Kind) {
		return nil
	}
	var now, before rbacObject
	if err := decode(w.New, &now); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if w.Old != nil {
		if err := decode(w.Old, &before); err != nil {
			return apierrors.NewInternalError(err)
		}
		if isGarbageCollection(&now, &before) {
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

// forbidden returns the 403 for a write, with the name of the object, which the server may have generated.
func (w *Write) forbidden(o *rbacObject, err error) error {
	return apierrors.NewForbidden(w.resource(), o.Name, err)
}

func (a *Authorizer) checkRole(ctx context.Context, authorizes authorizer.Authorizer, w *Write, obj, old *rbacObject) error {
	err := Check(ctx, authorizes, &Attributes{
		User: w.User, Verb: "escalate", Group: rbacv1.GroupName, Resource: w.resource().Resource,
		Namespace: w.Namespace, Name: w.Name,
	})
	if err == nil {
		return nil
	}
	if err := a.checkHeld(w.User, w.Namespace, obj.Rules); err != nil {
		return w.forbidden(obj, err)
	}
	if obj.isAggregated() || old.isAggregated() {
		if err := a.checkHeld(w.User, w.Namespace, allPermissions); err != nil {
			return w.forbidden(obj, errors.New("must have cluster-admin privileges to use the aggregationRule"))
		}
	}
	return nil
}

func (o *rbacObject) isAggregated() bool {
	return o.AggregationRule != nil && len(o.AggregationRule.ClusterRoleSelectors) > 0
}

func (a *Authorizer) checkBinding(ctx context.Context, authorizes authorizer.Authorizer, w *Write, obj *rbacObject) error {
	b := binding{key: namespacedName{w.Namespace, obj.Name}, ref: obj.RoleRef}
	resource := "roles"
	if b.ref.Kind == clusterRoleKind {
		resource = "clusterroles"
	}
	to, ok := b.boundRole()
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("roleRef.kind: %s: expected ClusterRole, or Role in a RoleBinding", b.missingRole()))
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
	if err := a.checkHeld(w.User, w.Namespace, rules); err != nil {
		return w.forbidden(obj, err)
	}
	return nil
}

// rulesOf returns the effective rules of a role; false if the role does not exist.
func (a *Authorizer) rulesOf(at namespacedName) (rules []rbacv1.PolicyRule, ok bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	r := a.index.roles[at]
	if r == nil || !r.exists {
		return nil, false
	}
	return r.rules, true
}

// checkHeld returns an error that lists the rules which a user does not hold in a namespace; nil if the user holds all of
// them.
func (a *Authorizer) checkHeld(u user.Info, namespace string, rules []rbacv1.PolicyRule) error {
	if n := countPermissions(rules); n > maxPermissions {
		return fmt.Errorf("user %q: expected rules with at most %[3]d permissions in total, received %.0[2]f; use several roles", u.GetName(), n, maxPermissions)
	}
	held, missingErr := a.PolicyRules(u, namespace)
	missingRules := missing(held, rules)
	if len(missingRules) == 0 {
		return nil
	}
	var texts []string
	for _, rule := range compact(missingRules) {
		texts = append(texts, describeRule(&rule))
	}
	slices.Sort(texts)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		u.GetName(), u.GetGroups(), strings.Join(slices.Compact(texts), "\n"))
	if missingErr != nil {
		message += fmt.Sprintf("; resolution errors: %v", []error{missingErr})
	}
	return errors.New(message)
}

// compact merges rules of one permission each: rules that differ only in their verb become one rule.
func compact(single []rbacv1.PolicyRule) (rules []rbacv1.PolicyRule) {
	type target struct{ group, resource, name string }
	at := map[target]int{}
	for _, one := range single {
		if len(one.NonResourceURLs) > 0 {
			rules = append(rules, one)
			continue
		}
		key := target{one.APIGroups[0], one.Resources[0], strings.Join(one.ResourceNames, "")}
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

// isGarbageCollection reports whether a write changes only ownerReferences and finalizers, as the garbage collector does.
// Such writes are exempt, because the garbage collector does not hold the permissions of the roles that it updates.
func isGarbageCollection(obj, old *rbacObject) bool {
	same := *obj
	same.OwnerReferences, same.Finalizers = old.OwnerReferences, old.Finalizers
	same.ManagedFields = old.ManagedFields
	same.ResourceVersion = cmp.Or(same.ResourceVersion, old.ResourceVersion)
	return equality.Semantic.DeepEqual(same, *old)
}
