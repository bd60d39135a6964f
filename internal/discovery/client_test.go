package discovery

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	gproto "google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// sharedServer returns a server with the built-in kinds. It is started on the first call and never stopped. Tests that do not
// change its kinds share it, because building its documents is slow.
var sharedServer = sync.OnceValue(func() *httptest.Server {
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		panic(err)
	}
	return httptest.NewServer(New(register, Options{Address: "10.0.0.1:6443", Version: Version("test"), Subresources: testSubresources}))
})

func newClient(t *testing.T) *discovery.DiscoveryClient {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: sharedServer().URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestClientDiscovers(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		client := newClient(t)
		client.UseLegacyDiscovery = legacy
		groups, lists, err := client.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		if len(groups) != 20 || groups[0].Name != "" || len(lists) != len(groupVersions(api.Builtin())) {
			t.Errorf("ServerGroupsAndResources(): got %d groups and %d resource lists, want 20 groups, the core group first, and %d lists", len(groups), len(lists), len(groupVersions(api.Builtin())))
		}
		found := map[string]string{}
		for _, list := range lists {
			for _, r := range list.APIResources {
				found[list.GroupVersion+" "+r.Name] = r.Group + "/" + r.Version + "/" + r.Kind + " " + strings.Join(r.ShortNames, ",")
			}
		}
		for name, want := range map[string]string{
			"v1 pods":                   "//Pod po",
			"apps/v1 deployments":       "//Deployment deploy",
			"apps/v1 deployments/scale": "autoscaling/v1/Scale ",
			"autoscaling/v1 horizontalpodautoscalers/status": "//HorizontalPodAutoscaler ",
		} {
			got := strings.Replace(found[name], "apps/v1/D", "//D", 1) // aggregated discovery states the group and version
			got = strings.Replace(strings.Replace(got, "/v1/P", "//P", 1), "autoscaling/v1/H", "//H", 1)
			if got != want {
				t.Errorf("resource %s with legacy discovery %t: got %q, want %q", name, legacy, got, want)
			}
		}
	}
}

func TestClientVersion(t *testing.T) {
	v, err := newClient(t).ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if v.Major != "1" || v.Minor != "37" || v.GitVersion != "v1.37.0+test" || v.Platform == "" {
		t.Errorf("ServerVersion() = %+v, want v1.37.0+test with a platform", v)
	}
}

// TestClientOpenAPI2 checks that the OpenAPI v2 document contains the information that kubectl needs for strategic merge
// patches and client-side validation.
func TestClientOpenAPI2(t *testing.T) {
	document, err := newClient(t).OpenAPISchema()
	if err != nil {
		t.Fatal(err)
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		t.Fatal(err)
	}
	if len(models.ListModels()) < 450 {
		t.Errorf("OpenAPI v2 document: got %d models, want at least 450", len(models.ListModels()))
	}
	deployment := models.LookupModel("io.k8s.api.apps.v1.Deployment").(*proto.Kind)
	podSpec := deployment.Fields["spec"].(proto.Reference).SubSchema().(*proto.Kind).
		Fields["template"].(proto.Reference).SubSchema().(*proto.Kind).
		Fields["spec"].(proto.Reference).SubSchema().(*proto.Kind)
	containers := podSpec.Fields["containers"].(*proto.Array)
	if containers.Extensions["x-kubernetes-patch-merge-key"] != "name" || containers.Extensions["x-kubernetes-list-type"] != "map" {
		t.Errorf("extensions of containers: got %v, want merge key name and list type map", containers.Extensions)
	}
	if !slices.Equal(podSpec.RequiredFields, []string{"containers"}) || podSpec.GetDescription() == "" {
		t.Errorf("PodSpec: got required fields %v and description %q, want containers and a description", podSpec.RequiredFields, podSpec.GetDescription())
	}
	gvk, _ := deployment.Extensions["x-kubernetes-group-version-kind"].([]any)
	if len(gvk) != 1 || gvk[0].(map[any]any)["kind"] != "Deployment" {
		t.Errorf("x-kubernetes-group-version-kind of Deployment: got %v, want one entry with the kind Deployment", gvk)
	}
	for _, name := range []string{"dryRun", "fieldValidation"} {
		if !patchHas2(document, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", name) {
			t.Errorf("parameters of PATCH deployments: got no %s, want it", name)
		}
	}
}

func patchHas2(document *openapi_v2.Document, address, name string) bool {
	for _, path := range document.Paths.Path {
		if path.Name != address {
			continue
		}
		for _, p := range path.Value.Patch.Parameters {
			if p.GetParameter().GetNonBodyParameter().GetQueryParameterSubSchema().GetName() == name {
				return true
			}
		}
	}
	return false
}

// someKinds returns a few kinds that differ in scope, verbs and schema. Tests use them instead of all kinds, because the
// library that computes the expected documents is slow.
func someKinds() []*api.Kind {
	some := slices.DeleteFunc(api.Builtin(), func(k *api.Kind) bool {
		return !slices.Contains([]string{"bindings", "namespaces", "replicasets.apps", "secrets", "flowschemas.flowcontrol.apiserver.k8s.io"}, k.String())
	})
	return append(some, &api.Kind{Group: "example.org", Name: "Other", Resource: "others", Versions: []string{"v1beta1"}},
		&api.Kind{Group: "example.org", Name: "Rich", Resource: "riches", Versions: []string{"v1beta1"}, Custom: true, Definition: &richDefinition{}})
}

// richDefinition is an api.Definition whose schema uses all keywords of OpenAPI schemas that documents can contain.
type richDefinition struct{ definitionStub }

func (*richDefinition) OpenAPI(string, bool) (*spec.Schema, error) {
	text, number := spec.StringProperty(), spec.Int64Property()
	text.Pattern, text.MaxLength, text.MinLength, text.Default, text.Enum = "a+", ptr(int64(9)), ptr(int64(1)), "a", []any{"a", "aa"}
	number.Minimum, number.Maximum, number.MultipleOf, number.ExclusiveMaximum = ptr(1.5), ptr(9.0), ptr(0.5), true
	list := spec.ArrayProperty(text)
	list.MinItems, list.MaxItems, list.UniqueItems = ptr(int64(1)), ptr(int64(3)), true
	properties := map[string]spec.Schema{"text": *text, "number": *number, "list": *list, "map": *spec.MapProperty(text)}
	for name, allowed := range map[string]bool{"any": true, "none": false} {
		properties[name] = spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, AdditionalProperties: &spec.SchemaOrBool{Allows: allowed}}}
	}
	return &spec.Schema{SchemaProps: spec.SchemaProps{
		Type: spec.StringOrArray{"object"}, Properties: properties, Required: []string{"text"}, MaxProperties: ptr(int64(9)), MinProperties: ptr(int64(1)), Title: "rich",
	}}, nil
}

func ptr[T any](v T) *T { return &v }

// TestProto2 checks that the OpenAPI v2 document in protobuf equals gnostic's conversion of the same document from JSON.
func TestProto2(t *testing.T) {
	register, err := api.NewRegister(someKinds()...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(register, Options{Subresources: testSubresources}))
	defer server.Close()
	want, err := openapi_v2.ParseDocument(get(t, server, "/openapi/v2", "application/json"))
	if err != nil {
		t.Fatal(err)
	}
	got := &openapi_v2.Document{}
	if err := gproto.Unmarshal(get(t, server, "/openapi/v2", mediaOpenAPI2Old), got); err != nil {
		t.Fatal(err)
	}
	a, b := &spec.Swagger{}, &spec.Swagger{}
	for s, document := range map[*spec.Swagger]*openapi_v2.Document{a: got, b: want} {
		if ok, err := s.FromGnostic(document); err != nil || !ok {
			t.Fatal(err, ok)
		}
	}
	one, _ := a.MarshalJSON()
	two, _ := b.MarshalJSON()
	reportDifferences("document", any(parseJSON(t, one)), any(parseJSON(t, two)), func(text string) { t.Error(text) })
}

func TestClientOpenAPI3(t *testing.T) {
	client := newClient(t)
	root := openapi3.NewRoot(client.OpenAPIV3())
	gvs, err := root.GroupVersions()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(gvs, schema.GroupVersion{Version: "v1"}) || len(gvs) != len(groupVersions(api.Builtin())) {
		t.Errorf("GroupVersions() = %v, want v1 and the other %d group versions", gvs, len(groupVersions(api.Builtin()))-1)
	}
	document, err := root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if document.Components.Schemas["io.k8s.api.core.v1.PodSpec"].Description == "" {
		t.Error("description of io.k8s.api.core.v1.PodSpec: got none, want one")
	}
	for _, resource := range []string{"deployments/{name}", "deployments/{name}/scale"} {
		checkPatch3(t, document.Paths.Paths["/apis/apps/v1/namespaces/{namespace}/"+resource])
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	text, err := paths["apis/coordination.k8s.io/v1"].Schema(mediaOpenAPI3)
	if err != nil {
		t.Fatal(err)
	}
	message := &openapi_v3.Document{}
	if err := gproto.Unmarshal(text, message); err != nil || len(message.Paths.Path) != 4 {
		t.Errorf("OpenAPI v3 document of coordination.k8s.io/v1 in protobuf: got error %v and %d paths, want 4 paths", err, len(message.GetPaths().GetPath()))
	}
}

// checkPatch3 checks that the PATCH operation of a path has the properties that kubectl needs for server-side validation and
// dry run.
func checkPatch3(t *testing.T, path *spec3.Path) {
	t.Helper()
	if path == nil || path.Patch == nil {
		t.Error("operations of the path: got no PATCH, want one")
		return
	}
	var gvk schema.GroupVersionKind
	if err := path.Patch.Extensions.GetObject(kindExtension, &gvk); err != nil || gvk.Kind == "" {
		t.Errorf("x-kubernetes-group-version-kind of PATCH: got %v and error %v, want a kind", gvk, err)
	}
	var names []string
	for _, p := range path.Patch.Parameters {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, "dryRun") || !slices.Contains(names, "fieldValidation") {
		t.Errorf("parameters of PATCH: got %q, want dryRun and fieldValidation among them", names)
	}
	for _, mediaType := range []string{"application/apply-patch+yaml", "application/strategic-merge-patch+json"} {
		if path.Patch.RequestBody.Content[mediaType] == nil {
			t.Errorf("request bodies of PATCH: got no %s, want it", mediaType)
		}
	}
}

// get returns the body of the document at the path address. It fails the test if the response status is not 200.
func get(t *testing.T, server *httptest.Server, address, accept string) []byte {
	t.Helper()
	response, body := fetch(t, server, http.MethodGet, address, "Accept", accept)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got status %s, want 200; body %.200s", address, response.Status, body)
	}
	return body
}
