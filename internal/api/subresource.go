package api

import "k8s.io/apimachinery/pkg/runtime/schema"

// StatusSubresource is the name of the status subresource. The main endpoint of a kind with this subresource ignores the
// field status.
const StatusSubresource = "status"

// SubresourceInfo describes a subresource for discovery and OpenAPI.
type SubresourceInfo struct {
	// Name is the last segment of the subresource's path.
	Name string
	// Verbs are the supported verbs, in the order in which discovery lists them.
	Verbs []string
	// Body is the type of request and response bodies; the zero value means the type of the resource.
	Body schema.GroupVersionKind
}
