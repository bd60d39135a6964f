package api

import "k8s.io/apimachinery/pkg/runtime/schema"

// StatusSubresource is the name of the subresource that writes the status of objects. Kinds that have it ignore the status
// at their main endpoint.
const StatusSubresource = "status"

// SubresourceInfo describes a subresource for discovery and OpenAPI.
type SubresourceInfo struct {
	// Name is the last segment of its path.
	Name string
	// Verbs are the verbs that it serves, in the order of discovery.
	Verbs []string
	// Body is the type of its bodies; the zero value means the type of the resource.
	Body schema.GroupVersionKind
}
