package applytest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/cadastretest"
)

// hardToDelete matches the scripts whose objects a DELETE request alone does not delete: objects with finalizers,
// objects in other namespaces, and cluster-scoped objects.
var hardToDelete = regexp.MustCompile("^(reset/(namespaces|nodes)|lifecycle/|delete/|crd/versions|create/generated-name|admission/policy-g)")

// TestRunLeavesNothing checks that a run deletes all its objects, on servers that complete the deletion of namespaces and on
// servers that do not.
func TestRunLeavesNothing(t *testing.T) {
	for name, options := range map[string][]cadastretest.Option{"controllers": nil, "no controllers": {cadastretest.WithoutControllers()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := cadastretest.Start(t, options...)
			report, err := applytest.Run(t.Context(), applytest.Options{Config: config, Run: hardToDelete})
			if err != nil || report.Count(applytest.Pass) < 20 || len(report.Leftovers) > 0 {
				t.Errorf("Run() = %v, %d scripts passed, Leftovers = %v; want no leftovers", err, report.Count(applytest.Pass), report.Leftovers)
			}
			if left := leftovers(t, config); len(left) > 0 {
				t.Errorf("remaining objects = %q, want none", left)
			}
		})
	}
}

// TestOtherNamesAreDeleted checks that a run deletes the objects that it has created, regardless of their names, and does not
// delete existing objects.
func TestOtherNamesAreDeleted(t *testing.T) {
	t.Parallel()
	const script = `It makes objects that are not named after its namespace.
-- a namespace --
CREATE /api/v1/namespaces

apiVersion: v1
kind: Namespace
metadata: {name: elsewhere}
-- one of a name that the server chooses --
CREATE /apis/rbac.authorization.k8s.io/v1/clusterroles

apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {generateName: elsewhere-}
-- one that is there --
APPLY /api/v1/namespaces/default as alice

apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {a: "1"}}
-- answer --
200
`
	config := cadastretest.Start(t)
	report, err := applytest.Run(t.Context(), applytest.Options{Config: config, Scripts: fstest.MapFS{"area/elsewhere.txtar": {Data: []byte(script)}}})
	if err != nil || report.Count(applytest.Pass) != 1 || len(report.Leftovers) > 0 {
		t.Fatalf("Run() = %v, %+v, want one passed script and no leftovers", err, report)
	}
	client := metadata.NewForConfigOrDie(config)
	for resource, want := range map[schema.GroupVersionResource]bool{
		{Version: "v1", Resource: "namespaces"}:                                       true,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}: false,
	} {
		list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		isDefault := false
		for _, item := range list.Items {
			isDefault = isDefault || item.Name == "default"
			if strings.HasPrefix(item.Name, "elsewhere") && item.DeletionTimestamp == nil {
				t.Errorf("%s %s exists after the run, want it deleted", resource.Resource, item.Name)
			}
		}
		if isDefault != want {
			t.Errorf("%s: object that existed before the run exists: %t, want %t", resource.Resource, isDefault, want)
		}
	}
}

// TestInterruptedRunLeavesNothing cancels runs after various times and checks that all their objects are deleted.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	t.Parallel()
	config := cadastretest.Start(t)
	for after := 30 * time.Millisecond; after < 500*time.Millisecond; after *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		report, err := applytest.Run(ctx, applytest.Options{Config: config, Run: regexp.MustCompile("^(admission|crd|reset|lifecycle)/"), Parallel: 16})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Run() = %v, want context.Canceled", err)
		}
		if report == nil {
			report = &applytest.Report{} // the run was canceled before the first script
		}
		if left := leftovers(t, config); len(left)+len(report.Leftovers)+report.Count(applytest.Fail) > 0 {
			t.Errorf("after %v: remaining objects = %q, Leftovers = %v, %d scripts failed; want none of these", after, left, report.Leftovers, report.Count(applytest.Fail))
		}
	}
}

// leftovers returns the objects of all kinds that scripts have created and that still exist, as "RESOURCE NAMESPACE/NAME".
func leftovers(t *testing.T, config *rest.Config) []string {
	t.Helper()
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	client := metadata.NewForConfigOrDie(config)
	var found []string
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range group.APIResources {
			if !strings.Contains(kind.Verbs.String(), "list") {
				continue
			}
			list, err := client.Resource(version.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("%s: %v", kind.Name, err)
			}
			for _, item := range list.Items {
				if strings.Contains(item.Namespace+"/"+item.Name, "applytest-") {
					found = append(found, kind.Name+" "+item.Namespace+"/"+item.Name)
				}
			}
		}
	}
	return found
}

// TestLeftoversAreReported checks that an object that cannot be deleted is reported as a leftover, with the reason.
func TestLeftoversAreReported(t *testing.T) {
	t.Parallel()
	const denial = `It denies every deletion.
-- make --
CREATE /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies

apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NAMESPACE-keep, finalizers: [example.com/keep]}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "true"}]
`
	config := rest.CopyConfig(cadastretest.Start(t))
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return finalizerDenier{next} })
	report, err := applytest.Run(t.Context(), applytest.Options{Config: config, CleanupTimeout: time.Second, Scripts: fstest.MapFS{"area/denial.txtar": {Data: []byte(denial)}}})
	if err != nil || len(report.Leftovers) != 1 || !strings.HasSuffix(report.Leftovers[0].Path, "-keep") || !strings.Contains(report.Leftovers[0].Reason, "remove the finalizers: 403") {
		t.Errorf("Run() = %v, %+v, want one leftover, because of its finalizers", err, report)
	}
}

// finalizerDenier is an HTTP transport that responds to PATCH requests, with which the runner removes finalizers, with a 403
// instead of sending them.
type finalizerDenier struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (transport finalizerDenier) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPatch {
		return transport.next.RoundTrip(request)
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"kind":"Status"}`)), Request: request,
	}, nil
}
