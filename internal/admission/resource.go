package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api"
)

// NewResource returns the endpoint of a resource, or of a subresource of it. body is the type of the endpoint's request bodies,
// or the zero value if that is the resource's kind.
func NewResource(k *api.Kind, version, subresource string, body schema.GroupVersionKind) Resource {
	r := Resource{
		Group: k.Group, Version: version, Resource: k.Resource, Kind: k.Name, Subresource: subresource,
		Namespaced: k.Namespaced, Review: k.CreateOnly && k.ActsOn == "", Body: body,
	}
	own := k.APIVersion(version)
	for _, other := range k.Versions {
		if apiVersion := k.APIVersion(other); apiVersion != own {
			r.Equivalents = append(r.Equivalents, atVersion(r, apiVersion))
		}
	}
	if k.AlsoServedAt != "" && k.AlsoServedAt != own {
		r.Equivalents = append(r.Equivalents, atVersion(r, k.AlsoServedAt))
	}
	return r
}

// atVersion returns the resource r at another apiVersion.
func atVersion(r Resource, apiVersion string) VersionedResource {
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group, version = "", apiVersion
	}
	r.Group, r.Version = group, version
	return r.Versioned()
}
