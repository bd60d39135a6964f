package flux

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/cadastre/cadastre/test/clients/owners"
	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) { os.Exit(target.Suite{M: m}.Run()) }

// manager is the field manager of Flux' controller.
const manager = "kustomize-controller"

// fluxEnv is Flux' apply library, with a namespace on the server under test.
type fluxEnv struct {
	t         *testing.T
	flux      *ssa.ResourceManager
	client    client.Client
	namespace string
}

func start(t *testing.T) fluxEnv {
	t.Helper()
	config := target.Config(t)
	httpClient, err := rest.HTTPClientFor(config)
	check(t, err)
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	check(t, err)
	c, err := client.New(config, client.Options{HTTPClient: httpClient, Mapper: mapper})
	check(t, err)
	flux := ssa.NewResourceManager(c, polling.NewStatusPoller(c, mapper, polling.Options{}),
		ssa.Owner{Field: manager, Group: "kustomize.toolkit.fluxcd.io"})
	flux.SetConcurrency(4)
	return fluxEnv{t, flux, c, target.Namespace(t)}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read parses manifests as Flux does, and sets the namespace of the objects.
func (f fluxEnv) read(manifests string) []*unstructured.Unstructured {
	f.t.Helper()
	objects, err := utils.ReadObjects(strings.NewReader(manifests))
	check(f.t, err)
	for _, object := range objects {
		object.SetNamespace(f.namespace)
	}
	f.flux.SetOwnerLabels(objects, "apps", f.namespace)
	return objects
}

// options returns the apply options of Flux' controller, but with a shorter polling interval.
func options() ssa.ApplyOptions {
	o := ssa.DefaultApplyOptions()
	o.WaitInterval = 20 * time.Millisecond
	o.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{"kubectl.kubernetes.io/last-applied-configuration"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: "Apply"},
			{Name: "kubectl", OperationType: "Update"},
			{Name: "before-first-apply", OperationType: "Update"},
			{Name: manager, OperationType: "Update"},
		},
	}
	return o
}

// apply applies the manifests as one set, and compares the actions that Flux reports with want, such as
// "ConfigMap/settings created".
func (f fluxEnv) apply(manifests string, o ssa.ApplyOptions, want ...string) {
	f.t.Helper()
	changes, err := f.flux.ApplyAllStaged(f.t.Context(), f.read(manifests), o)
	check(f.t, err)
	f.wantActions(changes, want...)
}

func (f fluxEnv) wantActions(changes *ssa.ChangeSet, want ...string) {
	f.t.Helper()
	got := strings.ReplaceAll(changes.String(), "/"+f.namespace+"/", "/")
	if got != strings.Join(want, "\n") {
		f.t.Errorf("got actions:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// live returns the current state of an object on the server.
func (f fluxEnv) live(apiVersion, kind, name string) *unstructured.Unstructured {
	f.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	check(f.t, f.client.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, object))
	return object
}

// wantOwners fails the test if the managedFields of an object differ from want, which contains lines such as "alice
// Apply v1: .data.a".
func wantOwners(t *testing.T, object *unstructured.Unstructured, want string) {
	t.Helper()
	got, err := owners.Lines(object.GetManagedFields())
	check(t, err)
	if got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got managedFields:\n%s\nwant:\n%s", got, want)
	}
}

// valueAt returns the value of the field of object at path, or nil if the field is not set.
func valueAt(t *testing.T, object *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	check(t, err)
	return value
}
