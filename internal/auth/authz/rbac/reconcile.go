package rbac

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Operation is what is to be done with an object.
type Operation string

// The operations. To recreate is to delete the object that is there and to create another one:
// which role a binding is for can't be changed.
const (
	Create   Operation = "create"
	Update   Operation = "update"
	Recreate Operation = "recreate"
)

// Change is something to do so that what must be there from the start is there.
type Change struct {
	Operation Operation
	// Kind is ClusterRoles or ClusterRoleBindings.
	Kind, Name string
	// Document is the whole object, as JSON.
	Document []byte
}

// Reconcile returns what to do, in order, so that the roles and bindings that Kubernetes has from the
// start are there: what is missing is created; rules, subjects, labels and annotations that
// somebody took away are added; what somebody added stays; and what is annotated
// rbac.authorization.kubernetes.io/autoupdate: "false" is left alone. existing returns an object
// as JSON, nil if there is none.
func Reconcile(existing func(kind, name string) ([]byte, error)) ([]Change, error) {
	var changes []Change
	start := bootstrap()
	for i := range start.roles {
		change, err := reconcile(existing, ClusterRoles, &start.roles[i], &start.roles[i].ObjectMeta, reconcileRole)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
	}
	for i := range start.bindings {
		change, err := reconcile(existing, ClusterRoleBindings, &start.bindings[i], &start.bindings[i].ObjectMeta, reconcileBinding)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
	}
	return changes, nil
}

// reconcile returns what to do about one object. merge changes what is there to what should be,
// and says what that is.
func reconcile[T any](existing func(kind, name string) ([]byte, error), kind string, wanted *T, meta *metav1.ObjectMeta,
	merge func(there, wanted *T) Operation) ([]Change, error) {
	text, err := existing(kind, meta.Name)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", kind, meta.Name, err)
	}
	operation, result := Create, wanted
	if text != nil {
		there := new(T)
		if err := decode(text, there); err != nil {
			return nil, fmt.Errorf("%s/%s: expected an object of this kind: %w: delete it, and it is made anew at the next start", kind, meta.Name, err)
		}
		if operation, result = merge(there, wanted), there; operation == Recreate {
			result = wanted
		}
	}
	if operation == "" {
		return nil, nil
	}
	document, err := encode(result)
	return []Change{{operation, kind, meta.Name, document}}, err
}

// encode writes an object without rules that it does not have.
func encode(o any) ([]byte, error) {
	if role, ok := o.(*rbacv1.ClusterRole); ok && role.Rules == nil {
		return json.Marshal(struct {
			*rbacv1.ClusterRole
			Rules []rbacv1.PolicyRule `json:"rules,omitempty"`
		}{ClusterRole: role})
	}
	return json.Marshal(o)
}

func reconcileRole(there, wanted *rbacv1.ClusterRole) Operation {
	if isProtected(&there.ObjectMeta) {
		return ""
	}
	changed := addMeta(&there.ObjectMeta, &wanted.ObjectMeta)
	if lacks := missing(there.Rules, wanted.Rules); len(lacks) > 0 {
		there.Rules = append(there.Rules, lacks...)
		changed = true
	}
	if addSelectors(there, wanted) {
		changed = true
	}
	return updateIf(changed)
}

// addSelectors makes a role gather what it should. A role that should not gather anything does
// not, as its rules would be lost.
func addSelectors(there, wanted *rbacv1.ClusterRole) (changed bool) {
	if wanted.AggregationRule == nil {
		changed = there.AggregationRule != nil
		there.AggregationRule = nil
		return changed
	}
	if there.AggregationRule == nil {
		there.AggregationRule = &rbacv1.AggregationRule{}
	}
	selectors := &there.AggregationRule.ClusterRoleSelectors
	for _, s := range wanted.AggregationRule.ClusterRoleSelectors {
		if !slices.ContainsFunc(*selectors, func(t metav1.LabelSelector) bool { return equality.Semantic.DeepEqual(t, s) }) {
			*selectors = append(*selectors, s)
			changed = true
		}
	}
	return changed
}

func reconcileBinding(there, wanted *rbacv1.ClusterRoleBinding) Operation {
	if isProtected(&there.ObjectMeta) {
		return ""
	}
	if there.RoleRef != wanted.RoleRef {
		return Recreate
	}
	changed := addMeta(&there.ObjectMeta, &wanted.ObjectMeta)
	for _, s := range wanted.Subjects {
		if !slices.Contains(there.Subjects, s) {
			there.Subjects = append(there.Subjects, s)
			changed = true
		}
	}
	return updateIf(changed)
}

func isProtected(m *metav1.ObjectMeta) bool {
	return m.Annotations[rbacv1.AutoUpdateAnnotationKey] == "false"
}

// addMeta adds labels and annotations that are not there, whatever the values of those that are.
func addMeta(there, wanted *metav1.ObjectMeta) (changed bool) {
	var labels, annotations bool
	there.Labels, labels = addMissing(there.Labels, wanted.Labels)
	there.Annotations, annotations = addMissing(there.Annotations, wanted.Annotations)
	return labels || annotations
}

func addMissing(there, wanted map[string]string) (map[string]string, bool) {
	merged := maps.Clone(wanted)
	maps.Copy(merged, there)
	return merged, len(merged) != len(there)
}

func updateIf(changed bool) Operation {
	if changed {
		return Update
	}
	return ""
}
