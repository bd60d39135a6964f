package kinds_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// TestMain adds the kind files in testdata to the built-in kind files.
func TestMain(m *testing.M) {
	kinds.Add(os.DirFS("testdata"))
	os.Exit(m.Run())
}

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// widgetServer is a running API server with a client for widgets in the namespace default, and a recorder of the warnings that
// the client receives.
type widgetServer struct {
	config   *rest.Config
	widgets  dynamic.ResourceInterface
	warnings warnings
}

// warnings collects the Warning headers of responses. It is safe for concurrent use.
type warnings struct {
	sync.Mutex
	all []string
}

// HandleWarningHeader implements [rest.WarningHandler].
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.Lock()
	defer w.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) has(text string) bool {
	w.Lock()
	defer w.Unlock()
	return slices.Contains(w.all, text)
}

func startWidgetServer(t *testing.T) *widgetServer {
	t.Helper()
	s := &widgetServer{config: rest.CopyConfig(cadastretest.Start(t))}
	s.config.WarningHandler = &s.warnings
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.widgets = client.Resource(widgets).Namespace("default")
	return s
}

func newWidget(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Widget")
	return u
}

func stringAt(u *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(u.Object, path...)
	return text
}

func intAt(u *unstructured.Unstructured, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, path...)
	return n
}

// TestAddKind checks that a kind that only a kind file in testdata declares is served with all its properties: defaults,
// reset fields, generation, strategy, deprecation, field selectors, validation, warnings, apply and watch.
func TestAddKind(t *testing.T) {
	s := startWidgetServer(t)
	watch, err := s.widgets.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()

	created, err := s.widgets.Create(t.Context(), newWidget(t, `{"metadata":{"name":"a"},"status":{"currentHealthy":9}}`), metav1.CreateOptions{FieldManager: "creator"})
	if err != nil {
		t.Fatal(err)
	}
	if intAt(created, "spec", "minAvailable") != 1 || stringAt(created, "spec", "unhealthyPodEvictionPolicy") != "IfHealthyBudget" {
		t.Errorf("spec after create = %v, want the defaults minAvailable 1 and unhealthyPodEvictionPolicy IfHealthyBudget", created.Object["spec"])
	}
	if intAt(created, "status", "currentHealthy") != 0 || created.GetGeneration() != 1 || created.GetLabels()["kubernetes.io/metadata.name"] != "a" {
		t.Errorf("object after create = %v, want the status reset, generation 1 and the label kubernetes.io/metadata.name=a", created.Object)
	}
	if !s.warnings.has("example.com/v1 Widget is deprecated; use policy/v1 PodDisruptionBudget") {
		t.Errorf("warnings after create = %q, want the deprecation warning among them", s.warnings.all)
	}
	got, err := s.widgets.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || got.GetUID() != created.GetUID() {
		t.Errorf("Get() = %v, %v, want the created object", got, err)
	}
	for _, label := range []string{"policy=IfHealthyBudget", "status.healthy=0"} {
		if list, err := s.widgets.List(t.Context(), metav1.ListOptions{FieldSelector: label}); err != nil || len(list.Items) != 1 {
			t.Errorf("List() with field selector %s: got %v and error %v, want one object", label, list, err)
		}
	}
	if _, err := s.widgets.Update(t.Context(), newWidget(t, `{"metadata":{"name":"a"},"spec":{}}`), metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("Update() without resourceVersion: error = %v, want Invalid", err)
	}
	s.apply(t)
	s.validate(t)
	s.updateStatus(t)
	if err := s.widgets.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Errorf("Delete(): error = %v, want nil", err)
	}
	var events []string
	for timeout := time.After(10 * time.Second); len(events) == 0 || events[len(events)-1] != "DELETED"; {
		select {
		case e := <-watch.ResultChan():
			events = append(events, string(e.Type))
		case <-timeout:
			t.Fatalf("watch: got events %q within 10s, want DELETED as the last one", events)
		}
	}
	if got := strings.Join(events, " "); got != "ADDED MODIFIED MODIFIED MODIFIED DELETED" {
		t.Errorf("watch: got events %s, want ADDED MODIFIED MODIFIED MODIFIED DELETED", got)
	}
}

// apply checks that applying a different value to a field that another field manager owns is a conflict, unless the apply is
// forced.
func (s *widgetServer) apply(t *testing.T) {
	t.Helper()
	config := newWidget(t, `{"metadata":{"name":"a"},"spec":{"minAvailable":2,"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`)
	applied, err := s.widgets.Apply(t.Context(), "a", config, metav1.ApplyOptions{FieldManager: "one", Force: true})
	if err != nil || intAt(applied, "spec", "minAvailable") != 2 || applied.GetGeneration() != 2 {
		t.Fatalf("Apply() = %v, %v, want minAvailable 2 and generation 2", applied, err)
	}
	if !s.warnings.has("spec.unhealthyPodEvictionPolicy: allows the eviction of unhealthy pods") {
		t.Errorf("warnings after Apply() = %q, want the warning about unhealthyPodEvictionPolicy among them", s.warnings.all)
	}
	other := newWidget(t, `{"metadata":{"name":"a"},"spec":{"minAvailable":3}}`)
	_, err = s.widgets.Apply(t.Context(), "a", other, metav1.ApplyOptions{FieldManager: "two"})
	status := apierrors.APIStatus(nil)
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details.Causes[0].Field != ".spec.minAvailable" {
		t.Errorf("Apply() by another field manager: error = %v, want a conflict about .spec.minAvailable", err)
	}
	applied, err = s.widgets.Apply(t.Context(), "a", other, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil || intAt(applied, "spec", "minAvailable") != 3 {
		t.Errorf("forced Apply() by another field manager = %v, %v, want minAvailable 3", applied, err)
	}
}

func (s *widgetServer) validate(t *testing.T) {
	t.Helper()
	_, err := s.widgets.Create(t.Context(), newWidget(t, `{"metadata":{"name":"bad"},"spec":{"minAvailable":"x","unhealthyPodEvictionPolicy":"Never"}}`), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `Widget.example.com "bad" is invalid`) ||
		!strings.Contains(err.Error(), `spec.unhealthyPodEvictionPolicy: Unsupported value: "Never"`) || !strings.Contains(err.Error(), "spec.minAvailable: Invalid value") {
		t.Errorf("Create() of an invalid widget: error = %v, want Invalid with errors of minAvailable and unhealthyPodEvictionPolicy", err)
	}
}

// updateStatus checks that the status subresource changes the status, ignores the spec, and validates the status.
func (s *widgetServer) updateStatus(t *testing.T) {
	t.Helper()
	patch := []byte(`{"spec":{"minAvailable":7},"status":{"currentHealthy":4}}`)
	updated, err := s.widgets.Patch(t.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil || intAt(updated, "status", "currentHealthy") != 4 || intAt(updated, "spec", "minAvailable") != 3 {
		t.Errorf("Patch() of status = %v, %v, want currentHealthy 4 and minAvailable 3", updated, err)
	}
	_, err = s.widgets.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"status":{"currentHealthy":-1}}`), metav1.PatchOptions{}, "status")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.currentHealthy: Invalid value: -1") {
		t.Errorf("Patch() of status with currentHealthy -1: error = %v, want Invalid", err)
	}
}

func TestAddedKindAsTable(t *testing.T) {
	s := startWidgetServer(t)
	if _, err := s.widgets.Create(t.Context(), newWidget(t, `{"metadata":{"name":"a"},"spec":{"minAvailable":"50%"}}`), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	body, err := client.RESTClient().Get().AbsPath("/apis/example.com/v1/namespaces/default/widgets").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range table.ColumnDefinitions {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, ", "); got != "Name, Min Available, Healthy, Age, Policy" {
		t.Errorf("columns of the Table: got %s, want Name, Min Available, Healthy, Age, Policy", got)
	}
	if cells := table.Rows[0].Cells; cells[0] != "a" || cells[1] != "50%" || cells[2] != 0.0 || cells[4] != "IfHealthyBudget" {
		t.Errorf("cells of the Table: got %v, want a, 50%%, 0, an age and IfHealthyBudget", cells)
	}
}

func TestAddedKindIsDiscovered(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(startWidgetServer(t).config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.ServerResourcesForGroupVersion("example.com/v1")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list.APIResources {
		names = append(names, r.Name)
		if r.Name == "widgets" && (r.Kind != "Widget" || r.SingularName != "widget" || !r.Namespaced || r.ShortNames[0] != "wd" || r.Categories[0] != "all" || !slices.Contains(r.Verbs, "deletecollection")) {
			t.Errorf("discovery of widgets: got %+v, want kind Widget, singular widget, namespaced, short name wd, category all, verb deletecollection", r)
		}
	}
	if got := strings.Join(names, " "); got != "widgets widgets/status" {
		t.Errorf("discovery of example.com/v1: got resources %s, want widgets widgets/status", got)
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil || paths["apis/example.com/v1"] == nil {
		t.Errorf("OpenAPI v3 path apis/example.com/v1: got %v and error %v, want a document", paths["apis/example.com/v1"], err)
	}
}

// TestReadmeShowsExample checks that the example in README.md is equal to the file that TestAddKind serves.
func TestReadmeShowsExample(t *testing.T) {
	example, err := os.ReadFile(filepath.Join("testdata", "example.com", "widget.kind"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```\n"+string(example)+"```\n") {
		t.Error("the example in README.md differs from testdata/example.com/widget.kind; copy the file")
	}
}
