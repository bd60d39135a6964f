package rbac

import (
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

// largeRule returns a rule in the syntax of bootstrap.txt with n API groups and n resourceNames, that is n² permissions.
func largeRule(n int) string {
	names := func(prefix string) string {
		var all []string
		for i := range n {
			all = append(all, prefix+strconv.Itoa(i))
		}
		return strings.Join(all, ",")
	}
	return "get " + names("g") + " pods names=" + names("n")
}

func TestEscalation(t *testing.T) {
	w := newBootstrappedKit(t)
	w.bind("red", "admins", "admin", "user:adam")
	w.role("", "escalator", "escalate rbac.authorization.k8s.io roles,clusterroles names=x")
	w.role("", "binder", "bind rbac.authorization.k8s.io clusterroles names=cluster-admin")
	w.role("", "escalates", "escalate rbac.authorization.k8s.io *")
	w.bind("red", "escalators", "escalates", "user:esther")
	w.bind("", "binders", "binder", "user:bella")
	w.bind("", "roots", "cluster-admin", "user:root")
	w.role("red", "local", "get core pods")
	adam, esther, bella, root, master := newUser("adam"), newUser("esther"), newUser("bella"), newUser("root"), newUser("m", authn.MastersGroup)
	aggregate := []byte(`{"metadata":{"name":"x"},"aggregationRule":{"clusterRoleSelectors":[{}]}}`)
	for _, test := range []struct {
		name      string
		user      *authn.User
		kind      string
		namespace string
		new, old  []byte
		want      string
	}{
		{"holds all", adam, Roles, "red", newRole(t, "red", "x", "read core pods", "create apps deployments"), nil, ""},
		{"does not hold some", adam, Roles, "red", newRole(t, "red", "x", "get,delete core nodes", "get core pods", "get - /x", "get core secrets,nodes names=a"), nil,
			"roles.rbac.authorization.k8s.io \"x\" is forbidden: user \"adam\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n" +
				"{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\" \"delete\"]}\n" +
				"{APIGroups:[\"\"], Resources:[\"secrets,nodes\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n" +
				"{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}"},
		{"too many permissions", adam, Roles, "red", newRole(t, "red", "x", largeRule(500)), nil, "expected rules with at most 100000 permissions in total, received 250000"},
		{"may escalate many", esther, Roles, "red", newRole(t, "red", "x", largeRule(500)), nil, ""},
		{"holds it in another namespace", adam, Roles, "blue", newRole(t, "blue", "x", "get core pods"), nil, "not currently held"},
		{"holds it only in a namespace", adam, ClusterRoles, "", newRole(t, "", "x", "get core pods"), nil, "clusterroles.rbac.authorization.k8s.io \"x\" is forbidden"},
		{"may escalate", esther, Roles, "red", newRole(t, "red", "x", "* * *"), nil, ""},
		{"may escalate elsewhere", esther, Roles, "blue", newRole(t, "blue", "x", "* * *"), nil, "not currently held"},
		{"holds all permissions", root, ClusterRoles, "", newRole(t, "", "x", "* * *"), nil, ""},
		{"masters", master, ClusterRoles, "", newRole(t, "", "x", "* * *"), nil, ""},
		{"another kind", adam, "core/pods", "red", []byte(`{}`), nil, ""},
		{"change to more", adam, Roles, "red", newRole(t, "red", "x", "get core nodes"), newRole(t, "red", "x"), "not currently held"},
		{"change of nothing", adam, Roles, "red", newRole(t, "red", "x", "get core nodes"), newRole(t, "red", "x", "get core nodes"), ""},
		{"change of finalizers", adam, Roles, "red", []byte(`{"metadata":{"name":"x","finalizers":["a"],"resourceVersion":"7"},"rules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`),
			[]byte(`{"metadata":{"name":"x","ownerReferences":[{"name":"o"}],"resourceVersion":"7"},"rules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`), ""},
		{"change of labels", adam, Roles, "red", []byte(`{"metadata":{"name":"x","labels":{"a":"b"}},"rules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`),
			[]byte(`{"metadata":{"name":"x"},"rules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`), "not currently held"},
		{"aggregationRule", adam, ClusterRoles, "", aggregate, nil, "must have cluster-admin privileges to use the aggregationRule"},
		{"aggregationRule before", adam, ClusterRoles, "", newRole(t, "", "x"), aggregate, "must have cluster-admin privileges"},
		{"aggregationRule, holds all permissions", root, ClusterRoles, "", aggregate, nil, ""},
		{"binds a held role", adam, RoleBindings, "red", newBinding(t, "red", "x", "edit", "user:carl"), nil, ""},
		{"binds a held role of the namespace", adam, RoleBindings, "red", newBinding(t, "red", "x", ".local", "user:carl"), nil, ""},
		{"binds a role that is held in another namespace", adam, RoleBindings, "blue", newBinding(t, "blue", "x", "edit", "user:carl"), nil, "rolebindings.rbac.authorization.k8s.io \"x\" is forbidden"},
		{"binds a role that is not held", adam, RoleBindings, "red", newBinding(t, "red", "x", "cluster-admin", "user:carl"), nil, "not currently held:\n{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}"},
		{"may bind", bella, ClusterRoleBindings, "", newBinding(t, "", "x", "cluster-admin", "user:carl"), nil, ""},
		{"may bind, in a namespace", bella, RoleBindings, "red", newBinding(t, "red", "x", "cluster-admin", "user:carl"), nil, ""},
		{"may bind another", bella, ClusterRoleBindings, "", newBinding(t, "", "x", "view", "user:carl"), nil, "not currently held"},
		{"binds a missing ClusterRole", adam, RoleBindings, "red", newBinding(t, "red", "x", "none", "user:carl"), nil, `clusterroles.rbac.authorization.k8s.io "none" not found`},
		{"binds a missing Role", adam, RoleBindings, "red", newBinding(t, "red", "x", ".none", "user:carl"), nil, `roles.rbac.authorization.k8s.io "none" not found`},
		{"binds a role of no namespace", root, ClusterRoleBindings, "", newBinding(t, "", "x", ".local", "user:carl"), nil, "roleRef.kind"},
		{"not an object of the kind", adam, Roles, "red", []byte(`{"rules":7}`), nil, "rules"},
		{"rules in another case", adam, Roles, "red", []byte(`{"metadata":{"name":"x"},"Rules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := w.CheckEscalation(t.Context(), w.Authorizer, &Write{User: test.user, Kind: test.kind, Namespace: test.namespace, Name: "x", New: test.new, Old: test.old})
			switch {
			case (err == nil) != (test.want == ""):
				t.Errorf("CheckEscalation() = %v, want an error with %q, or none if that is empty", err, test.want)
			case err != nil && !strings.Contains(err.Error(), test.want):
				t.Errorf("CheckEscalation() = %[2]q, want an error with %[1]q", test.want, err)
			case strings.Contains(test.want, "held") && !apierrors.IsForbidden(err):
				t.Errorf("CheckEscalation() = %T %v, want a 403", err, err)
			}
		})
	}
}

// TestEscalationByName checks that the permission to escalate a role by name does not apply to a create by POST, whose path
// contains no name.
func TestEscalationByName(t *testing.T) {
	w := newKit(t)
	w.role("", "escalator", "escalate rbac.authorization.k8s.io clusterroles names=x")
	w.bind("", "e", "escalator", "user:esther")
	write := &Write{User: newUser("esther"), Kind: ClusterRoles, Name: "x", New: newRole(t, "", "x", "get core pods")}
	if err := w.CheckEscalation(t.Context(), w.Authorizer, write); err != nil {
		t.Errorf("CheckEscalation() of the named role = %v, want nil", err)
	}
	write.Name = ""
	if err := w.CheckEscalation(t.Context(), w.Authorizer, write); !apierrors.IsForbidden(err) {
		t.Errorf("CheckEscalation() without a name = %v, want a 403", err)
	}
	w.bind("", "lost", "none", "user:esther")
	if err := w.CheckEscalation(t.Context(), w.Authorizer, write); err == nil || !strings.Contains(err.Error(), `; resolution errors: [clusterrole.rbac.authorization.k8s.io "none" not found]`) {
		t.Errorf("CheckEscalation() with a missing role = %v, want its resolution error", err)
	}
}
