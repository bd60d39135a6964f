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
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// counting counts writes. What a server says about taking over is hidden if it shall be like Kubernetes'.
type counting struct {
	http.RoundTripper
	likeKubernetes bool
	writes         *int
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
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

// formerly makes an object as client-side apply does.
func formerly(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	last := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},"data":{"key":"1","legacy":"1"}}`
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","annotations":{"` + ownership.LastApplied + `":` + fmt.Sprintf("%q", last) + `}},"data":{"key":"1","legacy":"1"}}`
	err = client.CoreV1().RESTClient().Post().Namespace("default").Resource("configmaps").
		Param("fieldManager", "kubectl-client-side-apply").Body([]byte(body)).SetHeader("Content-Type", "application/json").
		Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}

var changing = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|time)": *"[^"]*"`)

// TestTakingOverInOneStepOrTwo: a server that can do so migrates as it applies, in one write; others need two.
// What comes out is the same, also when it is only foreseen.
func TestTakingOverInOneStepOrTwo(t *testing.T) {
	server := cadastretest.Start(t)
	for _, manager := range []string{ownership.Kubectl, "gitops"} {
		for _, dryRun := range []bool{false, true} {
			for _, value := range []string{"1", "2"} {
				t.Run(fmt.Sprint(manager, dryRun, value), func(t *testing.T) {
					one, oneWrites := takenOver(t, server, manager, value, dryRun, false)
					two, twoWrites := takenOver(t, server, manager, value, dryRun, true)
					if one != two || strings.Contains(one, `"legacy":"1"`) {
						t.Errorf("in one step\n%s\nin two\n%s", one, two)
					}
					if want := [2]int{1, 2}; !dryRun && [2]int{oneWrites, twoWrites} != want {
						t.Errorf("expected %d writes, received %d and %d", want, oneWrites, twoWrites)
					}
				})
			}
		}
	}
}

// takenOver applies to an object that client-side apply made, and returns what comes out, and after how many
// writes.
func takenOver(t *testing.T, server *rest.Config, manager, value string, dryRun, likeKubernetes bool) (object string, writes int) {
	t.Helper()
	formerly(t, server, "shop")
	defer remove(t, server, "shop")
	config := rest.CopyConfig(server)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return counting{rt, likeKubernetes, &writes} })
	c, err := cluster.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	f := applyFlags{manager: manager, dryRun: dryRun, output: output{form: "json"}}
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
	var owners []string // some are of the same second, some not
	for _, e := range now.Entries {
		owners = append(owners, who(e)+" "+e.FieldsV1)
	}
	slices.Sort(owners)
	return changing.ReplaceAllString(stdout.String(), `"$1":""`) + strings.Join(owners, "\n"), writes
}

func remove(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
