package applytest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/cadastretest"
)

// TestGivenNamespace checks a run with Options.Namespace by a user that has permissions only in that namespace: most scripts
// run, and existing objects are not modified.
func TestGivenNamespace(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	client := kubernetes.NewForConfigOrDie(config)
	createTenant(t, client, "team-a")
	limited := rest.CopyConfig(config)
	limited.Impersonate.UserName = "team-a"
	run := func(namespace, scripts string) (*applytest.Report, error) {
		return applytest.Run(t.Context(), applytest.Options{Config: limited, Namespace: namespace, Run: regexp.MustCompile(scripts)})
	}

	report, err := run("team-a", "^(conflict|removal|topology|coownership|jsonpatch|reset/(pods|resourceclaims)|crd/versions)")
	if err != nil || report.Count(applytest.Fail) > 0 || len(report.Leftovers) > 0 {
		t.Fatalf("Run() = %v, %+v, want no failed script and no leftovers", err, report)
	}
	if passed := report.Count(applytest.Pass); passed < 60 {
		t.Errorf("%d scripts pass, want at least 60", passed)
	}
	for _, result := range report.Results {
		if result.Outcome == applytest.Skip && !strings.HasPrefix(result.Reason, "permission denied: ") && !strings.HasPrefix(result.Reason, "it writes outside") {
			t.Errorf("%s: reason of the skip = %q, want a missing permission or a write outside of the namespace", result.Name, result.Reason)
		}
	}
	if left := remainingObjects(t, client, "team-a"); len(left) != 0 {
		t.Errorf("remaining objects = %q, want none", left)
	}

	own := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Data: map[string]string{"mine": "1"}}
	if _, err := client.CoreV1().ConfigMaps("team-a").Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	report, err = run("team-a", "^conflict/")
	if err != nil || report.Count(applytest.Fail) > 0 {
		t.Fatalf("Run() = %v, %+v, want no failed script", err, report)
	}
	skipped := 0
	for _, result := range report.Results {
		if strings.HasPrefix(result.Reason, "configmaps/shared already exists in the given namespace") {
			skipped++
		}
	}
	if kept, err := client.CoreV1().ConfigMaps("team-a").Get(t.Context(), "shared", metav1.GetOptions{}); err != nil || kept.Data["mine"] != "1" || skipped == 0 {
		t.Errorf("existing object = %v, %v, %d skips; want it unchanged and scripts skipped", kept, err, skipped)
	}

	if _, err := run("team-b", "^conflict/"); err == nil || !strings.Contains(err.Error(), "namespace team-b: expected an existing namespace that you may write to, received configmaps is forbidden") {
		t.Errorf("Run() in a namespace without permissions = %v, want an error", err)
	}
	all := applytest.Options{Config: config, Namespace: "nowhere", Run: regexp.MustCompile("^conflict/")}
	if _, err := applytest.Run(t.Context(), all); err == nil || !strings.Contains(err.Error(), `namespaces "nowhere" not found`) {
		t.Errorf("Run() in a missing namespace = %v, want an error that names it", err)
	}
	all.Keep = true
	if _, err := applytest.Run(t.Context(), all); err == nil || !strings.Contains(err.Error(), "expected one script") {
		t.Errorf("Run() with Keep and several scripts in one namespace = %v, want an error", err)
	}
}

// ignoreDryRun is an HTTP transport that removes the query parameter dryRun from requests.
type ignoreDryRun struct{ http.RoundTripper }

func (transport ignoreDryRun) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.RawQuery = strings.ReplaceAll(request.URL.RawQuery, "dryRun=All", "")
	return transport.RoundTripper.RoundTrip(request)
}

// TestProbesLeaveNothing checks that probes of the server leave no objects behind, even on a server that ignores dryRun.
func TestProbesLeaveNothing(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	client := kubernetes.NewForConfigOrDie(config)
	createTenant(t, client, "team-a")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return ignoreDryRun{next} })
	report, err := applytest.Run(t.Context(), applytest.Options{Config: config, Namespace: "team-a", Run: regexp.MustCompile("^(unset/co-owners|optout/get)$")})
	if err != nil || len(report.Results) < 2 || report.Count(applytest.Pass) != len(report.Results) || len(report.Leftovers) > 0 {
		t.Fatalf("Run() = %v, %+v, want only passed scripts and no leftovers", err, report)
	}
	if left := remainingObjects(t, client, "team-a"); len(left) != 0 {
		t.Errorf("remaining objects = %q, want none", left)
	}
}

// TestWritesOutside checks that scripts write only to Options.Namespace, even if the user has all permissions.
func TestWritesOutside(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	createTenant(t, kubernetes.NewForConfigOrDie(config), "team-a")
	report, err := applytest.Run(t.Context(), applytest.Options{
		Config: config, Namespace: "team-a", Run: regexp.MustCompile("^(crd/versions|reset/n|subresources/status-rejected-namespace)"),
	})
	if err != nil || len(report.Results) < 5 || len(report.Leftovers) > 0 {
		t.Fatalf("Run() = %v, %+v, want at least 5 results and no leftovers", err, report)
	}
	for _, result := range report.Results {
		if !strings.HasPrefix(result.Reason, "it writes outside of") {
			t.Errorf("%s: outcome = %s %q, want a skip because it writes outside of the namespace", result.Name, result.Outcome, result.Reason)
		}
	}
}

// createTenant creates a namespace with the given name, and grants all permissions in it to the user of that name.
func createTenant(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	all := rbac.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	role := &rbac.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbac.PolicyRule{all}}
	if _, err := client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbac.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbac.Subject{{APIGroup: rbac.GroupName, Kind: "User", Name: name}},
	}
	if _, err := client.RbacV1().RoleBindings(name).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// remainingObjects returns the names of the objects in a namespace, for the kinds that most scripts use.
func remainingObjects(t *testing.T, client *kubernetes.Clientset, namespace string) (names []string) {
	t.Helper()
	configs, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs.Items {
		names = append(names, "configmaps/"+c.Name)
	}
	deployments, err := client.AppsV1().Deployments(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deployments.Items {
		names = append(names, "deployments/"+d.Name)
	}
	return names
}

// TestUnlistableIsUntouched checks that, with Options.Namespace, scripts are skipped if they use a kind that the user may
// write but not list.
func TestUnlistableIsUntouched(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	client := kubernetes.NewForConfigOrDie(config)
	createTenant(t, client, "team-a")
	role, err := client.RbacV1().ClusterRoles().Get(t.Context(), "team-a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.Rules[0].Verbs = []string{"get", "create", "patch", "update", "delete"}
	if _, err := client.RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	own := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Data: map[string]string{"mine": "1"}}
	if _, err := client.CoreV1().ConfigMaps("team-a").Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	limited := rest.CopyConfig(config)
	limited.Impersonate.UserName = "team-a"
	report, err := applytest.Run(t.Context(), applytest.Options{Config: limited, Namespace: "team-a", Run: regexp.MustCompile("^(conflict|coownership)/")})
	if err != nil || report.Count(applytest.Pass)+report.Count(applytest.Fail) > 0 {
		t.Fatalf("Run() = %v, %+v, want only skipped scripts", err, report)
	}
	for _, result := range report.Results {
		if !strings.Contains(result.Reason, `can't be listed`) || !strings.Contains(result.Reason, `User "team-a" cannot list`) {
			t.Errorf("%s: reason of the skip = %q, want a reason that contains \"can't be listed\"", result.Name, result.Reason)
		}
	}
	if kept, err := client.CoreV1().ConfigMaps("team-a").Get(t.Context(), "shared", metav1.GetOptions{}); err != nil || kept.Data["mine"] != "1" {
		t.Errorf("existing object = %v, %v, want it unchanged", kept, err)
	}
}
