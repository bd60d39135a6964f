package registry

import "github.com/cadastre/cadastre/document"

// ephemeralContainersSubresource is the subresource ephemeralcontainers, which adds ephemeral containers to a pod. Other changes
// are ignored. As in kube-apiserver the endpoint has no reset fields, so field managers become owners of the ignored fields.
func ephemeralContainersSubresource() *Subresource {
	return &Subresource{
		Name:     "ephemeralcontainers",
		Verbs:    []string{"get", "patch", "update"},
		NoTables: true,
		Restrict: restrictToEphemeralContainers,
		Validate: validateAt("ephemeralcontainers"),
	}
}

// restrictToEphemeralContainers returns the live pod with the ephemeral containers of pod.
func restrictToEphemeralContainers(pod, live document.Value) document.Value {
	const name = "ephemeralContainers"
	return withSpecOnly(pod, live, withField(live.Get("spec"), name, pod.Lookup("spec", name)))
}

// withSpecOnly returns pod with the given spec, and with the status and the mutable metadata of the live pod. Immutable metadata
// of pod, such as uid, is retained, so that validation can reject a change.
func withSpecOnly(pod, live, spec document.Value) document.Value {
	metadata := pod.Get("metadata")
	for _, name := range []string{"annotations", "deletionTimestamp", "finalizers", "generation", "labels", "ownerReferences"} {
		metadata = withField(metadata, name, live.Lookup("metadata", name))
	}
	return withField(pod.With("metadata", metadata).With("spec", spec), "status", live.Get("status"))
}
