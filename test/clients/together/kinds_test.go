package together

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"

	"github.com/cadastre/cadastre/apiserver"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// validObjects is the folder with valid objects of all built-in kinds.
const validObjects = "../../../internal/api/builtin/testdata/validation/objects"

// readObjects returns the valid objects of all built-in kinds.
func readObjects(t *testing.T) (all []*unstructured.Unstructured) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(validObjects, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: found no files: %v", validObjects, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, o)
		}
	}
	return all
}

// TestEveryKind creates objects of every kind through one server and changes them through the other, in both directions. After each
// write both servers return the same object. Objects that the first server rejects, because it does not serve the version or requires
// other objects, are skipped.
func TestEveryKind(t *testing.T) {
	p := start(t, apiserver.StorageJSON)
	for i, creator := range p.servers {
		kinds := map[schema.GroupVersionKind]bool{}
		for _, o := range readObjects(t) {
			if p.changeBoth(t, creator, p.servers[1-i], o.DeepCopy()) {
				kinds[o.GroupVersionKind()] = true
			}
		}
		t.Logf("objects of %d kinds were created through %s", len(kinds), creator.name)
		if len(kinds) < 45 {
			t.Errorf("objects of %d kinds were created through %s, want 45 or more", len(kinds), creator.name)
		}
	}
}

// changeBoth creates an object through the first server, changes it through the second and then through the first, and deletes it
// through the second. It returns false if the object was not created.
func (p pair) changeBoth(t *testing.T, first, second server, o *unstructured.Unstructured) bool {
	t.Helper()
	if _, err := first.of(o).Create(t.Context(), o, metav1.CreateOptions{FieldManager: "creator"}); err != nil {
		t.Logf("create %s %s through %s: %v", o.GetKind(), o.GetName(), first.name, err)
		return false
	}
	p.sameOnBoth(t, o)
	for _, s := range []server{second, first} {
		patch := `{"metadata":{"annotations":{"patched-by":"` + s.name + `"}}}`
		if _, err := s.of(o).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Errorf("patch %s %s, created by %s, through %s: %v", o.GetKind(), o.GetName(), first.name, s.name, err)
		}
		p.sameOnBoth(t, o)
	}
	now, background := int64(0), metav1.DeletePropagationBackground
	err := second.of(o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background})
	if err != nil && !apierrors.IsForbidden(err) {
		t.Errorf("delete %s %s through %s: %v", o.GetKind(), o.GetName(), second.name, err)
	}
	return true
}

// TestAdoption lists all resources that kube-apiserver serves and Cadastre has, with the objects that kube-apiserver has created for
// itself.
func TestAdoption(t *testing.T) {
	p := start(t, apiserver.StorageJSON)
	resources := p.commonResources(t)
	if len(resources) < 50 {
		t.Errorf("both servers list %d resources, want 50 or more: %v", len(resources), resources)
	}
	objects := 0
	for _, resource := range resources {
		var lists [2][]string
		isSame := func() bool { // system objects such as Leases change all the time
			for i := range lists {
				list, err := p.servers[i].Resource(resource).List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatalf("list %s of %s: %v", resource, p.servers[i].name, err)
				}
				lists[i] = nil
				for _, o := range list.Items {
					lists[i] = append(lists[i], text(t, o.Object))
				}
			}
			return slices.Equal(lists[0], lists[1])
		}
		if !testwait.Within(5*time.Second, isSame) {
			t.Errorf("%s differ:\n%s: %v\n%s: %v", resource, p.servers[0].name, lists[0], p.servers[1].name, lists[1])
		}
		objects += len(lists[0])
	}
	t.Logf("%d objects of %d resources", objects, len(resources))
	if objects < 100 {
		t.Errorf("both servers list %d objects, want 100 or more", objects)
	}
}

// commonResources returns the resources that both servers list, at the versions that kube-apiserver prefers.
func (p pair) commonResources(t *testing.T) (common []schema.GroupVersionResource) {
	t.Helper()
	var served [2]map[schema.GroupVersionResource]bool
	for i, config := range p.configs {
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		lists, err := client.ServerPreferredResources()
		if err != nil {
			t.Fatal(err)
		}
		served[i] = map[schema.GroupVersionResource]bool{}
		for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list.APIResources {
				served[i][version.WithResource(r.Name)] = true
			}
		}
	}
	for resource := range served[0] {
		if served[1][resource] {
			common = append(common, resource)
		} else {
			t.Logf("only kube-apiserver serves %s", resource)
		}
	}
	return common
}

// TestRestart opens a store that Cadastre has left behind, with objects of the time before, by a new Cadastre: the first list of the
// watch cache reads what both servers have written.
func TestRestart(t *testing.T) {
	p := start(t, apiserver.StorageProtobuf)
	o := parse(t, objects[0])
	for i, s := range p.servers {
		o.SetName([]string{"by-kube-apiserver", "by-cadastre"}[i])
		if _, err := s.of(o).Create(context.Background(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.servers[1], p.configs[1] = p.startCadastre(t, apiserver.StorageJSON)
	for _, name := range []string{"by-kube-apiserver", "by-cadastre"} {
		o.SetName(name)
		p.sameOnBoth(t, o)
	}
}
