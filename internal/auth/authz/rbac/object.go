package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/json"
)

// The kinds that say who may do what.
const (
	clusterRoleKind        = "ClusterRole"
	clusterRoleBindingKind = "ClusterRoleBinding"
	roleKind               = "Role"
	roleBindingKind        = "RoleBinding"
)

// The kinds, as the cache names them.
const (
	ClusterRoles        = rbacv1.GroupName + "/clusterroles"
	ClusterRoleBindings = rbacv1.GroupName + "/clusterrolebindings"
	Roles               = rbacv1.GroupName + "/roles"
	RoleBindings        = rbacv1.GroupName + "/rolebindings"
)

// object is what counts of an object of any of the four kinds.
type object struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Rules           []rbacv1.PolicyRule     `json:"rules"`
	AggregationRule *rbacv1.AggregationRule `json:"aggregationRule"`
	Subjects        []rbacv1.Subject        `json:"subjects"`
	RoleRef         rbacv1.RoleRef          `json:"roleRef"`
}

// decode reads JSON. The names of fields must be spelled exactly, everywhere alike: a field that
// one reader sees and another does not is a way around a check.
func decode(text []byte, into any) error { return json.UnmarshalCaseSensitivePreserveInts(text, into) }

// gathers reports whether a role gathers the rules of others, and of which. A selector that can't
// be read selects nothing; such roles are not let in.
func (o *object) gathers() (bool, []labels.Selector) {
	if o.AggregationRule == nil {
		return false, nil
	}
	var selectors []labels.Selector
	for i := range o.AggregationRule.ClusterRoleSelectors {
		if s, err := metav1.LabelSelectorAsSelector(&o.AggregationRule.ClusterRoleSelectors[i]); err == nil {
			selectors = append(selectors, s)
		}
	}
	return true, selectors
}
