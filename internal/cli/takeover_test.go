package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// countingTransport counts writes. If likeKubernetes is set, it removes the take-over parameter from the server's OpenAPI
// document.
type countingTransport struct {
	http.RoundTripper
	likeKubernetes bool
	writes         *int
}

func (c countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == "" {
		*c.writes++
	}
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil || !c.likeKubernetes || !strings.HasPrefix(r.URL.Path, "/openapi") {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(ownership.TakeOverParameter), []byte("overTake"))))
	return answer, err
}

// createClientSide creates a ConfigMap as client-side apply does.
func createClientSide(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	last := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},"data":{"key":"1","legacy":"1"}}`
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","annotations":{"` + ownership.LastAppliedAnnotation + `":` + fmt.Sprintf("%q", last) + `}},"data":{"key":"1","legacy":"1"}}`
	err = client.CoreV1().RESTClient().Post().Namespace("default").Resource("configmaps").
		Param("fieldManager", "kubectl-client-side-apply").Body([]byte(body)).SetHeader("Content-Type", "application/json").
		Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}

var volatileFields = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|time)": *"[^"]*"`)

// TestTakeoverInOneOrTwoWrites checks that an apply to a server with take-over support takes one write, that an apply to a
// server without it takes two writes, and that both have equal results, even in a dry run.
func TestTakeoverInOneOrTwoWrites(t *testing.T) {
	server := cadastretest.Start(t)
	for _, manager := range []string{ownership.KubectlManager, "gitops"} {
		for _, dryRun := range []bool{false, true} {
			for _, value := range []string{"1", "2"} {
				t.Run(fmt.Sprint(manager, dryRun, value), func(t *testing.T) {
					one, oneWrites := applyTakeover(t, server, manager, value, dryRun, false)
					two, twoWrites := applyTakeover(t, server, manager, value, dryRun, true)
					if one != two || strings.Contains(one, `"legacy":"1"`) {
						t.Errorf("want equal results without data.legacy; received with take-over support\n%s\nwithout\n%s", one, two)
					}
					if want := [2]int{1, 2}; !dryRun && [2]int{oneWrites, twoWrites} != want {
						t.Errorf("number of writes with take-over support = %d, without = %d, want %d", oneWrites, twoWrites, want)
					}
				})
			}
		}
	}
}

// applyTakeover applies a configuration with the given value, as manager, to a ConfigMap that client-side apply created.
// It returns the resulting object as text, and the number of writes.
func applyTakeover(t *testing.T, server *rest.Config, manager, value string, dryRun, likeKubernetes bool) (object string, writes int) {
	t.Helper()
	createClientSide(t, server, "shop")
	defer deleteConfigMap(t, server, "shop")
	config := rest.CopyConfig(server)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return countingTransport{rt, likeKubernetes, &writes} })
	c, err := cluster.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	f := applyFlags{appliedDefinitions: &appliedDefinitions{}, manager: manager, dryRun: dryRun, output: output{format: "json"}}
	if err := f.applyOne(t.Context(), c, "default", manifest{"standard input", configOf(t, "shop", "key", fmt.Sprintf("%q", value))}, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	kind, err := c.FindKind(t.Context(), "configmaps")
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Get(t.Context(), kind, "default", "shop")
	if err != nil {
		t.Fatal(err)
	}
	var owners []string // sorted below: the order of entries depends on their timestamps, which may be equal
	for _, e := range now.Entries {
		owners = append(owners, entryName(e)+" "+e.FieldsV1)
	}
	slices.Sort(owners)
	return volatileFields.ReplaceAllString(stdout.String(), `"$1":""`) + strings.Join(owners, "\n"), writes
}

func deleteConfigMap(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestTakeoverLosesRace checks that, if the object changes after it was read, the migration is computed again before
// anything is written, and that a dry run shows the same result.
func TestTakeoverLosesRace(t *testing.T) {
	server := cadastretest.Start(t)
	c, _ := openCounting(t, server, true)
	f := newFixture(t, server, 0)
	forced, err := ownership.ParsePath("data.key")
	if err != nil {
		t.Fatal(err)
	}
	for _, dryRun := range []bool{true, false} {
		createClientSide(t, server, "shop")
		f.force(t, "shop", "other", "key")
		a := applyOperation{
			applyFlags: applyFlags{manager: "gitops", dryRun: dryRun, forced: newForcedPaths([]ownership.PathExpression{forced})},
			cluster:    c, target: target{f.kind, "default", "shop"}, config: configOf(t, "shop", "key", "mine"),
		}
		if err := a.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.apply(t, "shop", "another", "b")
		after, err := a.apply(t.Context())
		if want := `{"b":"x","key":"mine"}`; err != nil || after.Document.Get("data").JSON() != want {
			t.Errorf("apply(dryRun=%v): error = %v, object %s, want data %s", dryRun, err, after.JSON(), want)
		}
		if dryRun && a.original.Document.Lookup("data", "b").Text() != "x" {
			t.Errorf("original = %s, want the object after the change", a.original.JSON())
		}
		deleteConfigMap(t, server, "shop")
	}
}

// TestTakeoverOfDeletedObject checks that, if the object is deleted after it was read, the apply creates it and takes over
// no fields.
func TestTakeoverOfDeletedObject(t *testing.T) {
	server := cadastretest.Start(t)
	c, _ := openCounting(t, server, true)
	f := newFixture(t, server, 0)
	for _, dryRun := range []bool{true, false} {
		createClientSide(t, server, "shop")
		a := applyOperation{
			applyFlags: applyFlags{manager: "gitops", dryRun: dryRun},
			cluster:    c, target: target{f.kind, "default", "shop"}, config: configOf(t, "shop", "key", "mine"),
		}
		if err := a.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		deleteConfigMap(t, server, "shop")
		if err := a.reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, err := a.apply(t.Context())
		if want := `{"key":"mine"}`; err != nil || after.Document.Get("data").JSON() != want || len(a.previousManagers) > 0 {
			t.Errorf("apply(dryRun=%v): error = %v, object %s, want data %s, previous managers %v", dryRun, err, after.JSON(), want, a.previousManagers)
		}
	}
}

// refusingTransport imitates a server without take-over support that rejects requests with 422: those for which refuse
// returns true.
type refusingTransport struct {
	countingTransport
	refuses func(*http.Request) bool
}

func (r refusingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !r.refuses(request) {
		return r.countingTransport.RoundTrip(request)
	}
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":422,"reason":"Invalid","message":"replicas are frozen"}`
	return &http.Response{StatusCode: http.StatusUnprocessableEntity, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: request}, nil
}

// TestFailedApplyRestoresManagedFields checks that managedFields are restored if the apply is rejected after they were
// rewritten. If they cannot be restored, the error must state that.
func TestFailedApplyRestoresManagedFields(t *testing.T) {
	server := cadastretest.Start(t)
	for name, test := range map[string]struct {
		maxPatches    int // number of managedFields patches that succeed
		wantStderr    string
		wantUnchanged bool
	}{
		"restored": {2, "", true},
		"reported": {1, "configmap/shop: managedFields were rewritten, gitops owns the fields of kubectl-client-side-apply; the configuration was not applied\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			createClientSide(t, server, "shop")
			defer deleteConfigMap(t, server, "shop")
			writes, patches := 0, 0
			config := rest.CopyConfig(server)
			config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
				return refusingTransport{countingTransport{rt, true, &writes}, func(r *http.Request) bool {
					switch contentType := r.Header.Get("Content-Type"); {
					case r.URL.Query().Get("dryRun") != "":
						return false
					case contentType == "application/apply-patch+yaml":
						return true
					case contentType == "application/json-patch+json":
						patches++
						return patches > test.maxPatches
					}
					return false
				}}
			})
			before := managedFieldsOf(t, server, "shop")
			c, err := cluster.Open(config)
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			f := applyFlags{appliedDefinitions: &appliedDefinitions{}, manager: "gitops", output: output{format: "text"}}
			err = f.applyOne(t.Context(), c, "default", manifest{"standard input", configOf(t, "shop", "key", `"2"`)}, &stdout, &stderr)
			if err == nil || !strings.Contains(err.Error(), "configmap/shop: replicas are frozen") || stderr.String() != test.wantStderr {
				t.Errorf("applyOne(): error = %v, stderr = %q, want \"replicas are frozen\" and stderr %q", err, stderr.String(), test.wantStderr)
			}
			if after := managedFieldsOf(t, server, "shop"); (after == before) != test.wantUnchanged {
				t.Errorf("managedFields are unchanged = %v, want %v; before\n%s\nafter\n%s", before == after, test.wantUnchanged, before, after)
			}
			if writes != test.maxPatches {
				t.Errorf("number of writes = %d, want %d", writes, test.maxPatches)
			}
		})
	}
}

// managedFieldsOf returns the data and the managedFields of a ConfigMap as text, for comparison.
func managedFieldsOf(t *testing.T, config *rest.Config, name string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	o, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(o.Data, o.ManagedFields)
}
