package discovery

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
)

// notServedResources are the resources and subresources of stable groups that kube-apiserver serves and Cadastre does not.
var notServedResources = []string{
	"v1 componentstatuses", "v1 nodes/proxy", "v1 pods/attach", "v1 pods/exec", "v1 pods/log", "v1 pods/portforward",
	"v1 pods/proxy", "v1 serviceaccounts/token", "v1 services/proxy",
}

// testSubresources describes the subresources that package registry implements.
var testSubresources = registry.Subresources()

// resourceLine formats all properties of a resource in an unaggregated discovery document as one line, for comparison.
func resourceLine(list metav1.APIResourceList, r metav1.APIResource) string {
	return fmt.Sprintf("%s %s %s/%s/%s namespaced=%v singular=%s short=%s in=%s hash=%s verbs=%s", list.GroupVersion, r.Name, r.Group, r.Version, r.Kind,
		r.Namespaced, r.SingularName, strings.Join(r.ShortNames, ","), strings.Join(r.Categories, ","), r.StorageVersionHash, strings.Join(r.Verbs, ","))
}

func listLines(list metav1.APIResourceList) (lines []string) {
	lines = append(lines, fmt.Sprintf("%s is %s/%s", list.GroupVersion, list.APIVersion, list.Kind))
	for _, r := range list.APIResources {
		lines = append(lines, resourceLine(list, r))
	}
	return lines
}

// aggregatedLines formats all properties of the resources in an aggregated discovery document, one line for each, for
// comparison.
func aggregatedLines(list apidiscoveryv2.APIGroupDiscoveryList) (lines []string) {
	for _, g := range list.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				lines = append(lines, fmt.Sprintf("%s/%s %s %v %s singular=%s short=%s in=%s verbs=%s fresh=%s", g.Name, v.Version, r.Resource, *r.ResponseKind,
					r.Scope, r.SingularResource, strings.Join(r.ShortNames, ","), strings.Join(r.Categories, ","), strings.Join(r.Verbs, ","), v.Freshness))
				for _, s := range r.Subresources {
					lines = append(lines, fmt.Sprintf("%s/%s %s/%s %v verbs=%s", g.Name, v.Version, r.Resource, s.Subresource, *s.ResponseKind, strings.Join(s.Verbs, ",")))
				}
			}
		}
	}
	return lines
}

func isServed(line string) bool {
	return !slices.ContainsFunc(notServedResources, func(name string) bool { return strings.HasPrefix(strings.TrimPrefix(line, "/"), name+" ") })
}

func readInto(t *testing.T, name string, into any) {
	t.Helper()
	text, err := json.Marshal(readJSON(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestResources compares the unaggregated discovery documents of the built-in kinds with those of kube-apiserver.
func TestResources(t *testing.T) {
	want := golden(t, "resources.txt", func(dir string) (lines []string) {
		for _, name := range servedVersions() {
			var list metav1.APIResourceList
			readInto(t, filepath.Join(dir, "api/discovery", name+".json"), &list)
			lines = append(lines, listLines(list)...)
		}
		return lines
	})
	for i, line := range want {
		want[i] = storageVersionHashes.Replace(line)
	}
	var got []string
	for _, g := range groupsOf(api.Builtin(), testSubresources) {
		for _, version := range g.versions {
			got = append(got, listLines(*g.resourceList(version))...)
		}
	}
	compareLines(t, got, slices.DeleteFunc(want, func(line string) bool { return !isServed(line) }))
}

// storageVersionHashes replaces the storage version hashes of the kinds that kube-apiserver stores at a beta version, so that
// its previous release can read them, with the hashes of v1, at which Cadastre stores them.
var storageVersionHashes = strings.NewReplacer(
	"hash=LYmCf+UMVdg=", "hash=mHCkTKpUTrE=", // MutatingAdmissionPolicy
	"hash=90V5FRZZ3Zg=", "hash=ZKgZT1uTmZ0=", // MutatingAdmissionPolicyBinding
	"hash=v5yhuVertL4=", "hash=R/wbJqMRFu8=", // ClusterTrustBundle
	"hash=wYA9yXQH8fg=", "hash=y6DwA8NQC8M=", // PodCertificateRequest
	"hash=i+85+TcIKpA=", "hash=qvhYPLi0ox4=", // DeviceTaintRule
	"hash=pCjmmKOkLy4=", "hash=fG8W2W0mBLo=", // StorageVersionMigration
)

// TestAggregated compares the aggregated discovery document of the built-in kinds with that of kube-apiserver.
func TestAggregated(t *testing.T) {
	served := func(line string) bool {
		gv, _, _ := strings.Cut(line, " ")
		name := strings.ReplaceAll(gv, "/", "__")
		return isServed(line) && (gv == "/v1" || slices.Contains(servedVersions(), "apis__"+name))
	}
	recorded := golden(t, "aggregated.txt", func(dir string) []string {
		var list apidiscoveryv2.APIGroupDiscoveryList
		readInto(t, filepath.Join(dir, "api/discovery/aggregated_v2.json"), &list)
		return aggregatedLines(list)
	})
	groups := groupsOf(api.Builtin(), testSubresources)
	got := aggregatedLines(*aggregated(groups[1:], "v2")) // kube-apiserver's file does not contain the core group
	compareLines(t, got, slices.DeleteFunc(slices.Clone(recorded), func(line string) bool { return !served(line) }))
	// The order of groups determines to which kind clients resolve a short name.
	if want := order(recorded); !slices.Equal(order(got), slices.DeleteFunc(want, func(g string) bool { return !slices.Contains(order(got), g) })) {
		t.Errorf("order of groups in aggregated discovery: got %q, want %q", order(got), want)
	}
}

// order returns the group names with which lines begin, in the order of lines. A name that begins several consecutive lines is
// returned once.
func order(lines []string) (names []string) {
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "/")
		names = append(names, name)
	}
	return slices.Compact(names)
}

func TestGroups(t *testing.T) {
	all := append(api.Builtin(), &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1alpha1", "v1", "v2beta1"}})
	groups := groupsOf(all, testSubresources)
	last := groups[len(groups)-1]
	if last.name != "example.org" || strings.Join(last.versions, " ") != "v1 v2beta1 v1alpha1" {
		t.Errorf("last group = %+v, want example.org with v1 preferred", last)
	}
	list := groupList(groups)
	if list.Groups[0].Name != "apps" || len(list.Groups) != len(groups)-1 {
		t.Errorf("groupList() = %+v, want all groups except the core group, apps first", list)
	}
	if scaling := findGroup(groups, "autoscaling").document(); scaling.PreferredVersion.GroupVersion != "autoscaling/v2" || len(scaling.Versions) != 2 {
		t.Errorf("document of the group autoscaling = %+v, want two versions, v2 preferred", scaling)
	}
	if v := coreVersions(groups, "host:1"); v.Versions[0] != "v1" || v.ServerAddressByClientCIDRs[0].ServerAddress != "host:1" {
		t.Errorf("coreVersions() = %+v, want v1 at host:1", v)
	}
}
