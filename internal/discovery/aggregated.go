package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/api"
)

const (
	aggregatedGroup = "apidiscovery.k8s.io"
	aggregatedKind  = "APIGroupDiscoveryList"
)

// aggregated returns the aggregated discovery document for groups, which is the core group for /api, and all groups except the
// core group for /apis. version is v2 or v2beta1; the two versions differ only in the apiVersion.
func aggregated(groups []*group, version string) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: aggregatedGroup + "/" + version},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	for _, g := range groups {
		item := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, version := range g.versions {
			item.Versions = append(item.Versions, g.aggregated(version))
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func (g *group) aggregated(version string) apidiscoveryv2.APIVersionDiscovery {
	made := apidiscoveryv2.APIVersionDiscovery{Version: version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, k := range g.kinds {
		if k.HasVersion(version) {
			made.Resources = append(made.Resources, g.aggregatedResource(k, version))
		}
	}
	return made
}

func (g *group) aggregatedResource(k *api.Kind, version string) apidiscoveryv2.APIResourceDiscovery {
	own := &metav1.GroupVersionKind{Kind: k.Name} // an empty group and version mean the group and version of the document
	if k.Custom {
		own.Group, own.Version = k.Group, version
	}
	made := apidiscoveryv2.APIResourceDiscovery{
		Resource: k.Resource, SingularResource: k.Singular(), ResponseKind: own, Scope: apidiscoveryv2.ScopeCluster,
		Verbs: verbs(k), ShortNames: k.ShortNames, Categories: k.Categories,
	}
	if k.Namespaced {
		made.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, s := range subresourcesOf(k, version, g.subresources) {
		body := own
		switch {
		case hasForeignBody(s, k, version):
			body = &metav1.GroupVersionKind{Group: s.Body.Group, Version: s.Body.Version, Kind: s.Body.Kind}
		case !s.Body.Empty():
			body = &metav1.GroupVersionKind{Kind: s.Body.Kind}
		}
		made.Subresources = append(made.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: s.Name, Verbs: s.Verbs, ResponseKind: body})
	}
	return made
}
