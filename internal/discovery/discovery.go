package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/cadastre/cadastre/internal/api"
)

// The verbs that discovery lists for a kind, in kube-apiserver's order, which differs for custom resources.
var (
	allVerbs                = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	withoutDeleteCollection = metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}
	customVerbs             = metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	terminatingVerbs        = metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"} // for custom resources whose CustomResourceDefinition is being deleted
	createVerbs             = metav1.Verbs{"create"}                                             // for create-only kinds such as SubjectAccessReview
)

func verbs(k *api.Kind) metav1.Verbs {
	switch {
	case k.CreateOnly:
		return createVerbs
	case k.NoDeleteCollection:
		return withoutDeleteCollection
	case k.Terminating:
		return terminatingVerbs
	case k.Custom:
		return customVerbs
	}
	return allVerbs
}

// groupOrder is the order of groups in discovery. It matters because clients resolve a short name to the first kind with that
// short name. Groups that are not in groupOrder follow, sorted by name.
var groupOrder = []string{
	"", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch",
	"certificates.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io",
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io",
	"node.k8s.io", "discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io",
	"storagemigration.k8s.io",
}

// group is an API group with its versions, the preferred version first, and its kinds, sorted by resource.
type group struct {
	name     string
	versions []string
	kinds    []*api.Kind
	// subresources describes all subresources that the server implements.
	subresources []api.SubresourceInfo
}

// groupsOf returns the API groups of kinds in the order of groupOrder.
func groupsOf(all []*api.Kind, subresources []api.SubresourceInfo) []*group {
	byName := map[string]*group{}
	var groups []*group
	for _, k := range all {
		g := byName[k.Group]
		if g == nil {
			g = &group{name: k.Group, subresources: subresources}
			byName[k.Group] = g
			groups = append(groups, g)
		}
		g.kinds = append(g.kinds, k)
		g.versions = append(g.versions, k.Versions...)
	}
	for _, g := range groups {
		slices.SortFunc(g.kinds, func(a, b *api.Kind) int { return strings.Compare(a.Resource, b.Resource) })
		slices.SortFunc(g.versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
		g.versions = slices.Compact(g.versions)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(groupRank(a.name), groupRank(b.name)), strings.Compare(a.name, b.name))
	})
	return groups
}

func groupRank(groupName string) int {
	if i := slices.Index(groupOrder, groupName); i >= 0 {
		return i
	}
	return len(groupOrder)
}

func findGroup(groups []*group, name string) *group {
	for _, g := range groups {
		if g.name == name {
			return g
		}
	}
	return nil
}

// coreVersions returns the document at /api.
func coreVersions(groups []*group, address string) *metav1.APIVersions {
	v := &metav1.APIVersions{
		TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"}, // apiVersion is absent, as in Kubernetes
		Versions:                   []string{},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}},
	}
	if core := findGroup(groups, ""); core != nil {
		v.Versions = core.versions
	}
	return v
}

// groupList returns the unaggregated document at /apis.
func groupList(groups []*group) *metav1.APIGroupList {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, g := range groups {
		if g.name != "" {
			list.Groups = append(list.Groups, g.apiGroup())
		}
	}
	return list
}

func (g *group) apiGroup() metav1.APIGroup {
	made := metav1.APIGroup{Name: g.name}
	for _, version := range g.versions {
		made.Versions = append(made.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.name + "/" + version, Version: version})
	}
	made.PreferredVersion = made.Versions[0]
	return made
}

// document returns the document at /apis/GROUP.
func (g *group) document() *metav1.APIGroup {
	made := g.apiGroup()
	made.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return &made
}

// resourceList returns the document at /api/v1 or /apis/GROUP/VERSION.
func (g *group) resourceList(version string) *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: version, APIResources: []metav1.APIResource{},
	}
	if g.name == "" {
		list.APIVersion = "" // apiVersion is absent in the document of the core group, as in Kubernetes
	} else {
		list.GroupVersion = g.name + "/" + version
	}
	for _, k := range g.kinds {
		if k.HasVersion(version) {
			list.APIResources = append(list.APIResources, g.apiResources(k, version)...)
		}
	}
	return list
}

// apiResources returns the discovery entries of k at the given version: first the resource, then its subresources.
func (g *group) apiResources(k *api.Kind, version string) []metav1.APIResource {
	resource := metav1.APIResource{
		Name: k.Resource, SingularName: k.Singular(), Namespaced: k.Namespaced, Kind: k.Name,
		Verbs: verbs(k), ShortNames: k.ShortNames, Categories: k.Categories,
	}
	if !k.CreateOnly {
		resource.StorageVersionHash = storageVersionHash(k)
	}
	list := []metav1.APIResource{resource}
	for _, s := range subresourcesOf(k, version, g.subresources) {
		below := metav1.APIResource{Name: k.Resource + "/" + s.Name, Namespaced: k.Namespaced, Verbs: s.Verbs, Kind: k.Name}
		if !s.Body.Empty() {
			below.Kind = s.Body.Kind
		}
		if hasForeignBody(s, k, version) {
			below.Group, below.Version = s.Body.Group, s.Body.Version
		}
		list = append(list, below)
	}
	return list
}

// subresourcesOf returns those items of described that are subresources of k at the given version.
func subresourcesOf(k *api.Kind, version string, described []api.SubresourceInfo) (found []api.SubresourceInfo) {
	for _, name := range k.SubresourcesAt(version) {
		if i := slices.IndexFunc(described, func(s api.SubresourceInfo) bool { return s.Name == name }); i >= 0 {
			found = append(found, described[i])
		}
	}
	return found
}

// hasForeignBody reports whether the request and response bodies of a subresource, such as Scale, have a group or version that
// differs from that of the kind.
func hasForeignBody(s api.SubresourceInfo, k *api.Kind, version string) bool {
	return !s.Body.Empty() && (s.Body.Group != k.Group || s.Body.Version != version)
}

// storageVersionHash returns the hash of the GroupVersionKind at which objects of k are stored. Clients that find a changed
// hash can start a storage version migration.
func storageVersionHash(k *api.Kind) string {
	storedAs := k.StoredVersion() + "/" + k.Name
	if k.StoredVersion() == "v1" {
		storedAs = "/v1/" + k.Name // the core group, in which also events of events.k8s.io are stored
	}
	sum := sha256.Sum256([]byte(storedAs))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
