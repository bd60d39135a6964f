package api

// Deprecation describes a deprecated version of a kind.
type Deprecation struct {
	// Warning is the text of the Warning header in responses to requests at the version.
	Warning string
	// Removed is the first Kubernetes release that no longer serves the version, such as 1.40; "" if none is planned.
	Removed string
}
