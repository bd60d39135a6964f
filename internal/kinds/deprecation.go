package kinds

// A Deprecation says that clients should use something else than a kind at a version.
type Deprecation struct {
	// Warning is what they are told.
	Warning string
	// Removed is the release of Kubernetes that does not have it any more, such as 1.40; "" if that
	// is not known.
	Removed string
}

// deprecations are those of built-in kinds in Kubernetes 1.36, by kind and version.
var deprecations = map[string]map[string]Deprecation{
	"endpoints": {"v1": {Warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}},
}
