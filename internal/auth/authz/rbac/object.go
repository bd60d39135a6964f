package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/json"
)

// The kinds of the API group rbac.authorization.k8s.io.
const (
	clusterRoleKind        = "ClusterRole"
	clusterRoleBindingKind = "ClusterRoleBinding"
	roleKind               = "Role"
	roleBindingKind        = "RoleBinding"
)

// The resources of the API group rbac.authorization.k8s.io, as GROUP/RESOURCE in storage keys.
const (
	ClusterRoles        = rbacv1.GroupName + "/clusterroles"
	ClusterRoleBindings = rbacv1.GroupName + "/clusterrolebindings"
	Roles               = rbacv1.GroupName + "/roles"
	RoleBindings        = rbacv1.GroupName + "/rolebindings"
)

// object contains the fields of the four RBAC kinds that the index uses.
type object struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Rules           []rbacv1.PolicyRule     `json:"rules"`
	AggregationRule *rbacv1.AggregationRule `json:"aggregationRule"`
	Subjects        []rbacv1.Subject        `json:"subjects"`
	RoleRef         rbacv1.RoleRef          `json:"roleRef"`
}

// decode decodes JSON into target, a pointer, with case-sensitive field names. All code that decodes RBAC objects must use
// it: a field that is decoded in one place and ignored in another could bypass a check.
func decode(text []byte, target any) error {
	return json.UnmarshalCaseSensitivePreserveInts(text, target)
}

// isAggregated reports whether a role has an aggregationRule, and returns its selectors. It omits invalid selectors, which
// validation rejects.
func (o *object) isAggregated() (bool, []labels.Selector) {
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
