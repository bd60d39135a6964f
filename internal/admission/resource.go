package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api"
)

// Resource is the endpoint of a write: a resource at a version, or a subresource of it.
type Resource struct {
	Kind                 *api.Kind
	Version, Subresource string
	// Body is the type of the endpoint's bodies if it is not the resource's own, such as Scale.
	Body schema.GroupVersionKind
}

// GroupResource names the resource in errors.
func (r Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Kind.Group, Resource: r.Kind.Resource}
}

// Is reports whether the endpoint is the resource itself, not a subresource of it.
func (r Resource) Is(group, resource string) bool {
	return r.Subresource == "" && r.Kind.Group == group && r.Kind.Resource == resource
}

// IsNamespace reports whether the endpoint is that of namespaces, or a subresource of them.
func (r Resource) IsNamespace() bool { return r.Kind.Group == "" && r.Kind.Resource == "namespaces" }

// VersionedResource is a resource and its kind at one version, as paths and objects name them.
type VersionedResource struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

func (v VersionedResource) apiVersion() string { return v.Kind.GroupVersion().String() }

// Versioned returns the resource at the version of the request.
func (r Resource) Versioned() VersionedResource { return r.at(r.Kind.APIVersion(r.Version)) }

func (r Resource) at(apiVersion string) VersionedResource {
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group, version = "", apiVersion
	}
	v := VersionedResource{
		Resource: schema.GroupVersionResource{Group: group, Version: version, Resource: r.Kind.Resource},
		Kind:     schema.GroupVersionKind{Group: group, Version: version, Kind: r.Kind.Name},
	}
	if !r.Body.Empty() {
		v.Kind = r.Body
	}
	return v
}

// equivalents returns the other versions at which the same objects are served.
func (r Resource) equivalents() (others []VersionedResource) {
	own := r.Kind.APIVersion(r.Version)
	for _, version := range r.Kind.Versions {
		if apiVersion := r.Kind.APIVersion(version); apiVersion != own {
			others = append(others, r.at(apiVersion))
		}
	}
	if r.Kind.AlsoServedAt != "" && r.Kind.AlsoServedAt != own {
		others = append(others, r.at(r.Kind.AlsoServedAt))
	}
	return others
}

// isExempt reports whether webhooks and policies never apply to the resource: the objects that configure them can
// always be written, so that a mistake in them can be corrected.
func (r Resource) isExempt() bool {
	if r.Kind.Group != "admissionregistration.k8s.io" {
		return false
	}
	switch r.Kind.Name {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		return true
	}
	return false
}
