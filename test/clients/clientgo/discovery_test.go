package clientgo

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/cadastre/cadastre/test/clients/target"
)

// TestDiscovery checks that aggregated and legacy discovery return the same resources.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	aggregated, err := discovery.NewDiscoveryClientForConfig(target.Config(t))
	check(t, err)
	old, err := discovery.NewDiscoveryClientForConfig(target.Config(t))
	check(t, err)
	old.UseLegacyDiscovery = true

	for form, client := range map[string]*discovery.DiscoveryClient{"aggregated": aggregated, "old": old} {
		_, lists, err := client.ServerGroupsAndResources()
		check(t, err)
		deployments := find(lists, "apps/v1", "deployments")
		if deployments == nil || !deployments.Namespaced || deployments.Kind != "Deployment" || deployments.SingularName != "deployment" ||
			!slices.Equal(deployments.ShortNames, []string{"deploy"}) || !slices.Equal(deployments.Categories, []string{"all"}) ||
			!slices.Equal(deployments.Verbs, []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}) {
			t.Errorf("%s discovery: deployments = %+v, want a namespaced resource with all verbs, its short name and category", form, deployments)
		}
		scale := find(lists, "apps/v1", "deployments/scale")
		if scale == nil || scale.Kind != "Scale" || scale.Group != "autoscaling" || scale.Version != "v1" ||
			!slices.Equal(scale.Verbs, []string{"get", "patch", "update"}) {
			t.Errorf("%s discovery: deployments/scale = %+v, want kind Scale of autoscaling/v1 with get, patch and update", form, scale)
		}
		if namespaces := find(lists, "v1", "namespaces"); namespaces == nil || namespaces.Namespaced || slices.Contains(namespaces.Verbs, "deletecollection") {
			t.Errorf("%s discovery: namespaces = %+v, want a cluster-scoped resource without the verb deletecollection", form, namespaces)
		}
	}

	groups, err := aggregated.ServerGroups()
	check(t, err)
	// Clients rely on the order of groups, in which the core group is first.
	if groups.Groups[0].Name != "" || groups.Groups[0].PreferredVersion.Version != "v1" {
		t.Errorf("first group = %+v, want the core group", groups.Groups[0])
	}
}

func find(lists []*metav1.APIResourceList, groupVersion, name string) *metav1.APIResource {
	for _, list := range lists {
		for i, resource := range list.APIResources {
			if list.GroupVersion == groupVersion && resource.Name == name {
				return &list.APIResources[i]
			}
		}
	}
	return nil
}

func TestRESTMapper(t *testing.T) {
	t.Parallel()
	client, err := discovery.NewDiscoveryClientForConfig(target.Config(t))
	check(t, err)
	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)

	for _, test := range []struct {
		resource string
		want     schema.GroupVersionResource
	}{
		{"deploy", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}},
		{"configmap", schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}},
		{"ing", schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}},
		{"endpoints", schema.GroupVersionResource{Version: "v1", Resource: "endpoints"}},
		{"events", schema.GroupVersionResource{Version: "v1", Resource: "events"}}, // the resource of the core group, not that of events.k8s.io
		{"hpa", schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}},
	} {
		got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: test.resource})
		if err != nil || got != test.want {
			t.Errorf("ResourceFor(%s) = %v, %v, want %v", test.resource, got, err, test.want)
		}
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"})
	check(t, err)
	if mapping.Resource.Resource != "clusterroles" || mapping.Scope.Name() != meta.RESTScopeNameRoot {
		t.Errorf("RESTMapping(ClusterRole) = %+v, want cluster-scoped clusterroles", mapping)
	}
}

// TestOpenAPI checks that OpenAPI v2 and v3 contain the built-in kinds.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	client, err := discovery.NewDiscoveryClientForConfig(target.Config(t))
	check(t, err)

	paths, err := client.OpenAPIV3().Paths()
	check(t, err)
	apps := paths["apis/apps/v1"]
	if apps == nil {
		t.Fatal("OpenAPI v3 index does not contain apis/apps/v1")
	}
	for _, contentType := range []string{"application/json", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"} {
		content, err := apps.Schema(contentType)
		check(t, err)
		if !strings.Contains(string(content), "io.k8s.api.apps.v1.Deployment") {
			t.Errorf("OpenAPI v3 of apps/v1 as %s does not contain Deployment", contentType)
		}
	}
	if url := apps.ServerRelativeURL(); !strings.Contains(url, "hash=") {
		t.Errorf("URL %s contains no hash, want a hash, with which clients can cache the document", url)
	}

	// OpenAPISchema requests OpenAPI v2 as protobuf.
	document, err := client.OpenAPISchema()
	check(t, err)
	found := false
	for _, definition := range document.GetDefinitions().GetAdditionalProperties() {
		found = found || definition.Name == "io.k8s.api.apps.v1.Deployment"
	}
	if !found {
		t.Error("OpenAPI v2 does not contain Deployment")
	}
	version, err := client.ServerVersion()
	check(t, err)
	if version.Major != "1" || version.Minor != "37" {
		t.Errorf("version = %+v, want 1.37", version)
	}
}
