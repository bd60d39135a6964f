package catalog

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/kinds"
)

const (
	aggregatedGroup = "apidiscovery.k8s.io"
	aggregatedKind  = "APIGroupDiscoveryList"
)

// aggregated is what /api and /apis answer to those who want to know all at once. Its versions v2
// and v2beta1 are the same but for the name.
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
			made.Resources = append(made.Resources, aggregatedResource(k, version))
		}
	}
	return made
}

func aggregatedResource(k *kinds.Kind, version string) apidiscoveryv2.APIResourceDiscovery {
	own := &metav1.GroupVersionKind{Kind: k.Name} // group and version are those of the document
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
	if k.Contains {
		made.Subresources = append(made.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: "finalize", Verbs: replaceVerbs, ResponseKind: own})
	}
	status := apidiscoveryv2.APISubresourceDiscovery{Subresource: "status", Verbs: partVerbs, ResponseKind: own}
	if k.Custom && k.HasSubresource(version, "status") { // Kubernetes has it before the scale, unlike that of built-in kinds
		made.Subresources = append(made.Subresources, status)
	}
	if k.HasSubresource(version, "scale") {
		made.Subresources = append(made.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: "scale", Verbs: partVerbs,
			ResponseKind: &metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
		})
	}
	if !k.Custom && k.HasSubresource(version, "status") {
		made.Subresources = append(made.Subresources, status)
	}
	return made
}
