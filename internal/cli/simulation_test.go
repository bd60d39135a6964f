package cli

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/strategic"
)

// TestDiffPatch checks the text of the patches, and that applying a patch to oldDoc produces newDoc.
func TestDiffPatch(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{`{"metadata":{"name":"a"},"data":{"x":"1"}}`, `{"metadata":{"name":"a"},"data":{"x":"1"}}`, `[]`},
		{`{"metadata":{"name":"a"},"data":{"x":"1"}}`, `{"metadata":{"name":"a"}}`, `[{"op":"remove","path":"/data"}]`},
		{`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"},"a/b~c":1}`, `[{"op":"add","path":"/a~1b~0c","value":1}]`},
		{`{"metadata":{"name":"a","labels":{"x":"1"}}}`, `{"metadata":{"annotations":{"y":"2"},"name":"a"}}`,
			`[{"op":"add","path":"/metadata/annotations","value":{"y":"2"}},{"op":"remove","path":"/metadata/labels"}]`},
	} {
		from, to := parseJSON(t, test.from), parseJSON(t, test.to)
		patch := diffPatch(from, to)
		if patch.JSON() != test.want {
			t.Errorf("diffPatch(%s, %s) = %s, want %s", test.from, test.to, patch.JSON(), test.want)
		}
		if got, err := strategic.ApplyJSONPatch(from, patch); err != nil || !document.Equal(got, to) {
			t.Errorf("diffPatch(%s, %s) = %s, which produces %s, %v, want %s", test.from, test.to, patch.JSON(), got, err, test.to)
		}
	}
}

// TestSimulationRemovesInvalidFields checks the plan that changes the strategy of a Deployment created by client-side apply,
// whose rollingUpdate is invalid until the migration removes it. The plan for a server with take-over support and the plan
// for a server without it must be equal.
func TestSimulationRemovesInvalidFields(t *testing.T) {
	server := cadastretest.Start(t)
	createClientSideDeployment(t, server)
	recreate := `spec: {replicas: 3, strategy: {type: Recreate}, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: %s}]}}}}`
	for _, manager := range []string{ownership.KubectlManager, "gitops"} {
		t.Run(manager, func(t *testing.T) {
			config := fmt.Sprintf(recreate, "nginx")
			one, err := renderPlan(t, server, manager, config, false)
			if err != nil || !strings.Contains(one, "\n  - spec.strategy.rollingUpdate: ") || !strings.Contains(one, "\n  conflict spec.replicas: owned by hpa Update") {
				t.Errorf("planOne(): error = %v, want the removal of rollingUpdate and a conflict with hpa, received\n%s", err, one)
			}
			if two, err := renderPlan(t, server, manager, config, true); err != nil || one != two {
				t.Errorf("error = %v, want equal plans; received with take-over support\n%s\nwithout\n%s", err, one, two)
			}
			_, err = renderPlan(t, server, manager, fmt.Sprintf(recreate, `""`), true)
			if err == nil || !strings.Contains(err.Error(), "image: Required value") || strings.Contains(err.Error(), "rollingUpdate") {
				t.Errorf("planOne(): error = %v, want only the error that remains after the migration", err)
			}
		})
	}
}

// TestInvalidApplyWritesNothing checks that a configuration that is still invalid after the migration is rejected before
// managedFields are rewritten.
func TestInvalidApplyWritesNothing(t *testing.T) {
	server := cadastretest.Start(t)
	createClientSideDeployment(t, server)
	for _, test := range []struct {
		image string
		want  int
	}{{`""`, 0}, {"nginx", 2}} {
		c, writes := openCounting(t, server, true)
		doc := deploymentOf(t, "spec: {replicas: 2, strategy: {type: Recreate}, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "+test.image+"}]}}}}")
		var stdout, stderr bytes.Buffer
		f := applyFlags{appliedDefinitions: &appliedDefinitions{}, manager: "gitops", output: output{format: "text"}}
		err := f.applyOne(t.Context(), c, "default", manifest{"standard input", doc}, &stdout, &stderr)
		if *writes != test.want || (err == nil) != (test.want > 0) {
			t.Errorf("image %s: number of writes = %d, want %d; error = %v", test.image, *writes, test.want, err)
		}
	}
}

// createClientSideDeployment creates a Deployment as client-side apply does; then the field manager hpa sets its replicas.
func createClientSideDeployment(t *testing.T, config *rest.Config) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","annotations":{"` + ownership.LastAppliedAnnotation + `":"{}"}},
		"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"app","image":"nginx"}]}}}}`
	deployments := client.AppsV1().RESTClient()
	err = deployments.Post().Namespace("default").Resource("deployments").Param("fieldManager", "kubectl-client-side-apply").
		SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
	err = deployments.Patch("application/merge-patch+json").Namespace("default").Resource("deployments").Name("web").
		Param("fieldManager", "hpa").Body([]byte(`{"spec":{"replicas":2}}`)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}

// renderPlan returns the plan for the Deployment as text. If likeKubernetes is set, the client does not see that the server
// supports take-over.
func renderPlan(t *testing.T, server *rest.Config, manager, config string, likeKubernetes bool) (string, error) {
	t.Helper()
	c, writes := openCounting(t, server, likeKubernetes)
	p, err := planOne(t.Context(), c, planFlags{manager: manager, appliedDefinitions: &appliedDefinitions{}}, "default", manifest{"standard input", deploymentOf(t, config)})
	if err != nil {
		return "", err
	}
	if *writes > 0 {
		t.Errorf("planOne() sent a write, want dry runs only")
	}
	var text bytes.Buffer
	planView{w: &text, now: time.Unix(1<<33, 0)}.print(p) // a fixed time, so that ages do not depend on the run time
	return text.String(), nil
}

// openCounting returns a client, and the number of writes that it has sent. If likeKubernetes is set, the client does not
// see that the server supports take-over.
func openCounting(t *testing.T, server *rest.Config, likeKubernetes bool) (c *cluster.Cluster, writes *int) {
	t.Helper()
	writes = new(int)
	wrapped := rest.CopyConfig(server)
	wrapped.Wrap(func(rt http.RoundTripper) http.RoundTripper { return countingTransport{rt, likeKubernetes, writes} })
	c, err := cluster.Open(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	return c, writes
}

func deploymentOf(t *testing.T, rest string) document.Value {
	t.Helper()
	doc, err := document.ParseYAML([]byte("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, " + rest))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func parseJSON(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSimulationKeepsUnrelatedError checks that the server's validation error is returned if the migration removes no
// fields.
func TestSimulationKeepsUnrelatedError(t *testing.T) {
	server := cadastretest.Start(t)
	createClientSideDeployment(t, server)
	c, _ := openCounting(t, server, true)
	kind, err := c.FindKind(t.Context(), "deployments")
	if err != nil {
		t.Fatal(err)
	}
	live, err := c.Get(t.Context(), kind, "default", "web")
	if err != nil {
		t.Fatal(err)
	}
	a := &applyOperation{cluster: c, target: target{kind: kind, namespace: "default", name: "web"}, live: live}
	a.manager = "gitops"
	a.config = deploymentOf(t, "}")
	refused := &cluster.Error{Code: http.StatusUnprocessableEntity}
	if _, err := a.simulateMigration(t.Context(), apply.Object{}, refused); !errors.Is(err, refused) {
		t.Errorf("simulateMigration() = %v, want the validation error", err)
	}
}
