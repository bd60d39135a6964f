package applytest_test

import (
	"regexp"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/cadastretest"
)

// TestPermissions checks that scripts are skipped, with the server's message as reason, if the user lacks a permission.
func TestPermissions(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	run := func(user, scripts string) (*applytest.Report, error) {
		limited := rest.CopyConfig(config)
		limited.Impersonate.UserName = user
		return applytest.Run(t.Context(), applytest.Options{Config: limited, Run: regexp.MustCompile(scripts)})
	}
	if _, err := run("nobody", "^conflict/"); err == nil || !noNamespacePermission.MatchString(err.Error()) {
		t.Errorf("Run() for a user without permissions = %v, want an error", err)
	}

	bindUser(t, config, "maker", "admin", rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"create", "delete", "get"}})
	report, err := run("maker", "^(conflict/force|reset/nodes|crd/versions|unset/)")
	if err != nil || report.Count(applytest.Fail) > 0 || len(report.Leftovers) > 0 {
		t.Fatalf("Run() = %v, %+v, want no failed script and no leftovers", err, report)
	}
	for _, result := range report.Results {
		switch denied := strings.HasPrefix(result.Reason, "permission denied: "); {
		case result.Area == "reset" || result.Area == "crd":
			if !denied || !strings.Contains(result.Reason, `User "maker" cannot `) {
				t.Errorf("%s: outcome = %s %q, want a skip", result.Name, result.Outcome, result.Reason)
			}
		case result.Area == "conflict" && result.Outcome != applytest.Pass:
			t.Errorf("%s: outcome = %s %q, want pass", result.Name, result.Outcome, result.Reason)
		}
	}

	bindUser(t, config, "reader", "view", rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"create", "delete", "get"}})
	report, err = run("reader", "^unset/")
	if err != nil || len(report.Results) == 0 {
		t.Fatalf("Run() = %v, want nil", err)
	}
	for _, result := range report.Results {
		if result.Outcome != applytest.Skip || !strings.HasPrefix(result.Reason, "permission denied: ") && !strings.HasPrefix(result.Reason, "only ") {
			t.Errorf("%s: outcome = %s %q, want a skip because of permissions", result.Name, result.Outcome, result.Reason)
		}
	}
}

var noNamespacePermission = regexp.MustCompile(`^creating a namespace per script: create namespace applytest-[a-z0-9]+: permission denied: ` +
	`namespaces is forbidden: User "nobody".*; use an existing namespace that you may write to \(--namespace\)$`)

// bindUser binds the given user to the ClusterRole named role, and to a new ClusterRole that consists of rule.
func bindUser(t *testing.T, config *rest.Config, user, role string, rule rbac.PolicyRule) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config).RbacV1()
	own := &rbac.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbac.PolicyRule{rule}}
	if _, err := client.ClusterRoles().Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{role, user} {
		binding := &rbac.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user + "-" + name},
			RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbac.Subject{{APIGroup: rbac.GroupName, Kind: "User", Name: user}},
		}
		if _, err := client.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
