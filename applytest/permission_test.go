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

// TestPermissions: what the user may not do is a skip with the server's reason, and nobody's failure.
func TestPermissions(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	run := func(user, scripts string) (*applytest.Report, error) {
		limited := rest.CopyConfig(config)
		limited.Impersonate.UserName = user
		return applytest.Run(t.Context(), applytest.Options{Config: limited, Run: regexp.MustCompile(scripts)})
	}
	if _, err := run("nobody", "^conflict/"); err == nil || !nobodyMay.MatchString(err.Error()) {
		t.Errorf("received %v from a user who may do nothing", err)
	}

	give(t, config, "maker", "admin", rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"create", "delete", "get"}})
	report, err := run("maker", "^(conflict/force|reset/nodes|crd/versions|unset/)")
	if err != nil || report.Count(applytest.Fail) > 0 || len(report.Leftovers) > 0 {
		t.Fatalf("received %v, %+v", err, report)
	}
	for _, result := range report.Results {
		switch denied := strings.HasPrefix(result.Reason, "you may not: "); {
		case result.Area == "reset" || result.Area == "crd":
			if !denied || !strings.Contains(result.Reason, `User "maker" cannot `) {
				t.Errorf("%s: received %s %q, want a skip for want of permission", result.Name, result.Outcome, result.Reason)
			}
		case result.Area == "conflict" && result.Outcome != applytest.Pass:
			t.Errorf("%s: received %s %q, want that it passes", result.Name, result.Outcome, result.Reason)
		}
	}

	give(t, config, "reader", "view", rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"create", "delete", "get"}})
	report, err = run("reader", "^unset/")
	if err != nil || len(report.Results) == 0 {
		t.Fatalf("received %v", err)
	}
	for _, result := range report.Results {
		if result.Outcome != applytest.Skip || !strings.HasPrefix(result.Reason, "you may not: ") && !strings.HasPrefix(result.Reason, "only ") {
			t.Errorf("%s: received %s %q: a user who may not write does not learn what the server knows", result.Name, result.Outcome, result.Reason)
		}
	}
}

var nobodyMay = regexp.MustCompile(`^every script needs a namespace of its own: make the namespace applytest-[a-z0-9]+: you may not: ` +
	`namespaces is forbidden: User "nobody".*; name one that you may use \(--namespace\)$`)

// give lets a user do what a role of Kubernetes allows everywhere, and one thing more.
func give(t *testing.T, config *rest.Config, user, role string, more rbac.PolicyRule) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config).RbacV1()
	own := &rbac.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbac.PolicyRule{more}}
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
