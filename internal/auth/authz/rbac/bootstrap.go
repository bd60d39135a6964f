package rbac

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

//go:embed bootstrap.txt
var bootstrapText string

const (
	bootstrapLabel      = "kubernetes.io/bootstrapping"
	bootstrapLabelValue = "rbac-defaults"
	aggregateLabel      = rbacv1.GroupName + "/aggregate-to-"
)

// verbWords maps abbreviations in bootstrap.txt to lists of verbs.
var verbWords = map[string]string{
	"read":  "get,list,watch",
	"write": "create,delete,deletecollection,patch,update",
	"all":   "create,delete,deletecollection,get,list,patch,update,watch",
}

// bootstrapPolicy contains the default ClusterRoles and ClusterRoleBindings that exist on every server.
type bootstrapPolicy struct {
	roles    []rbacv1.ClusterRole
	bindings []rbacv1.ClusterRoleBinding
}

// bootstrap returns the policy parsed from bootstrap.txt. It is parsed on the first call.
var bootstrap = sync.OnceValue(func() *bootstrapPolicy {
	i, err := parseBootstrap(bootstrapText)
	if err != nil {
		panic(err) // cannot happen: TestBootstrapRoles parses the same text
	}
	return i
})

func parseBootstrap(text string) (*bootstrapPolicy, error) {
	i := &bootstrapPolicy{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := i.add(words, line[0] == ' '); err != nil {
			return nil, fmt.Errorf("bootstrap.txt:%d: %w", number, err)
		}
	}
	return i, nil
}

// add parses one line of bootstrap.txt. An indented line is a rule of the preceding role.
func (p *bootstrapPolicy) add(words []string, indented bool) error {
	switch {
	case indented && len(words) >= 3 && len(p.roles) > 0:
		role := &p.roles[len(p.roles)-1]
		role.Rules = append(role.Rules, parseRule(words))
		return nil
	case !indented && words[0] == "role" && len(words) >= 2:
		role, err := newBootstrapRole(words[1], words[2:])
		p.roles = append(p.roles, role)
		return err
	case !indented && words[0] == "binding" && len(words) >= 3:
		p.bindings = append(p.bindings, newBootstrapBinding(words[1], words[2:]))
		return nil
	}
	return fmt.Errorf("expected a role, a binding, or a rule of the role before it, received %q", words)
}

func parseRule(words []string) rbacv1.PolicyRule {
	verbs := words[0]
	if several, ok := verbWords[verbs]; ok {
		verbs = several
	}
	rule := rbacv1.PolicyRule{Verbs: strings.Split(verbs, ",")}
	if words[1] == "-" {
		rule.NonResourceURLs = words[2:]
		return rule
	}
	for group := range strings.SplitSeq(words[1], ",") {
		if group == "core" {
			group = ""
		}
		rule.APIGroups = append(rule.APIGroups, group)
	}
	rule.Resources = words[2:]
	return rule
}

func bootstrapMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{bootstrapLabel: bootstrapLabelValue},
		Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"},
	}
}

func newBootstrapRole(name string, properties []string) (rbacv1.ClusterRole, error) {
	role := rbacv1.ClusterRole{TypeMeta: typeMeta(clusterRoleKind), ObjectMeta: bootstrapMeta(name)}
	for _, p := range properties {
		key, value, _ := strings.Cut(p, "=")
		switch key {
		case "aggregates":
			labels := map[string]string{aggregateLabel + name: "true"}
			role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: labels}}}
		case "for":
			role.Labels[aggregateLabel+value] = "true"
		default:
			return role, fmt.Errorf("role %s: expected aggregates or for=NAME, received %q", name, p)
		}
	}
	return role, nil
}

func newBootstrapBinding(name string, groups []string) rbacv1.ClusterRoleBinding {
	binding := rbacv1.ClusterRoleBinding{
		TypeMeta: typeMeta(clusterRoleBindingKind), ObjectMeta: bootstrapMeta(name),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: clusterRoleKind, Name: name},
	}
	for _, group := range groups {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group})
	}
	return binding
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}
