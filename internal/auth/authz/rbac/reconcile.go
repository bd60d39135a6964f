package rbac

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Operation is the kind of write that a Change requires.
type Operation string

// The operations. Recreate deletes an object and creates it again, which is necessary because the roleRef of a binding is
// immutable.
const (
	Create   Operation = "create"
	Update   Operation = "update"
	Recreate Operation = "recreate"
)

// Change is a write that restores a default role or binding.
type Change struct {
	Operation Operation
	// Kind is the resource: ClusterRoles or ClusterRoleBindings.
	Kind, Name string
	// Document is the whole object to write, as JSON.
	Document []byte
}

// ErrUnreadable is returned by the function existing of Reconcile for an object that is stored but cannot be read. It is left as it is.
var ErrUnreadable = errors.New("the object cannot be read")

// Reconcile returns the writes, in order, that restore the default roles and bindings, as kube-apiserver does: missing
// objects are created; missing rules, subjects, labels and annotations are added; additions by users are retained; and
// objects with the annotation rbac.authorization.kubernetes.io/autoupdate: "false" are not changed. The function existing
// returns a stored object as JSON, or nil if it does not exist.
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

// reconcile returns the write that restores one object; none if the stored object need not change. The function merge changes
// the stored object to the desired state and returns the required operation; "" if nothing changed.
func reconcile[T any](existing func(kind, name string) ([]byte, error), kind string, wanted *T, meta *metav1.ObjectMeta,
	merge func(stored, wanted *T) Operation) ([]Change, error) {
	text, err := existing(kind, meta.Name)
	if errors.Is(err, ErrUnreadable) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", kind, meta.Name, err)
	}
	operation, result := Create, wanted
	if text != nil {
		stored := new(T)
		if err := decode(text, stored); err != nil {
			return nil, fmt.Errorf("%s/%s: cannot decode the object: %w; delete it, and the next start creates it", kind, meta.Name, err)
		}
		if operation, result = merge(stored, wanted), stored; operation == Recreate {
			result = wanted
		}
	}
	if operation == "" {
		return nil, nil
	}
	document, err := encode(result)
	return []Change{{operation, kind, meta.Name, document}}, err
}

// encode encodes an object as JSON. It omits the field rules of a ClusterRole without rules.
func encode(o any) ([]byte, error) {
	if role, ok := o.(*rbacv1.ClusterRole); ok && role.Rules == nil {
		return json.Marshal(struct {
			*rbacv1.ClusterRole
			Rules []rbacv1.PolicyRule `json:"rules,omitempty"`
		}{ClusterRole: role})
	}
	return json.Marshal(o)
}

func reconcileRole(stored, wanted *rbacv1.ClusterRole) Operation {
	if isProtected(&stored.ObjectMeta) {
		return ""
	}
	changed := addMeta(&stored.ObjectMeta, &wanted.ObjectMeta)
	if missingRules := missing(stored.Rules, wanted.Rules); len(missingRules) > 0 {
		stored.Rules = append(stored.Rules, missingRules...)
		changed = true
	}
	if addSelectors(stored, wanted) {
		changed = true
	}
	return updateIf(changed)
}

// addSelectors adds missing selectors to the stored aggregationRule, and reports whether the role changed. It removes the
// aggregationRule from a role that should have none, because aggregation would replace the role's rules.
func addSelectors(stored, wanted *rbacv1.ClusterRole) (changed bool) {
	if wanted.AggregationRule == nil {
		changed = stored.AggregationRule != nil
		stored.AggregationRule = nil
		return changed
	}
	if stored.AggregationRule == nil {
		stored.AggregationRule = &rbacv1.AggregationRule{}
	}
	selectors := &stored.AggregationRule.ClusterRoleSelectors
	for _, s := range wanted.AggregationRule.ClusterRoleSelectors {
		if !slices.ContainsFunc(*selectors, func(t metav1.LabelSelector) bool { return equality.Semantic.DeepEqual(t, s) }) {
			*selectors = append(*selectors, s)
			changed = true
		}
	}
	return changed
}

func reconcileBinding(stored, wanted *rbacv1.ClusterRoleBinding) Operation {
	if isProtected(&stored.ObjectMeta) {
		return ""
	}
	if stored.RoleRef != wanted.RoleRef {
		return Recreate
	}
	changed := addMeta(&stored.ObjectMeta, &wanted.ObjectMeta)
	for _, s := range wanted.Subjects {
		if !slices.Contains(stored.Subjects, s) {
			stored.Subjects = append(stored.Subjects, s)
			changed = true
		}
	}
	return updateIf(changed)
}

func isProtected(m *metav1.ObjectMeta) bool {
	return m.Annotations[rbacv1.AutoUpdateAnnotationKey] == "false"
}

// addMeta adds missing labels and annotations, and reports whether the metadata changed. It does not change existing values.
func addMeta(stored, wanted *metav1.ObjectMeta) (changed bool) {
	var labels, annotations bool
	stored.Labels, labels = addMissing(stored.Labels, wanted.Labels)
	stored.Annotations, annotations = addMissing(stored.Annotations, wanted.Annotations)
	return labels || annotations
}

func addMissing(stored, wanted map[string]string) (map[string]string, bool) {
	merged := maps.Clone(wanted)
	maps.Copy(merged, stored)
	return merged, len(merged) != len(stored)
}

func updateIf(changed bool) Operation {
	if changed {
		return Update
	}
	return ""
}
