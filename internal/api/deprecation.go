package api

// Deprecation describes a deprecated version of a kind.
type Deprecation struct {
	// Warning is the text of the warning header.
	Warning string
	// Removed is the first release of Kubernetes that does not serve the version, such as 1.40; "" if that is not decided.
	Removed string
}
