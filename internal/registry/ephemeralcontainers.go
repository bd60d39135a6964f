package registry

import "github.com/cadastre/cadastre/document"

// ephemeralContainersSubresource adds ephemeral containers to a pod. All other changes are ignored. As in kube-apiserver field
// managers own ignored fields, too: the endpoint has no reset fields.
func ephemeralContainersSubresource() *Subresource {
	return &Subresource{
		Name:     "ephemeralcontainers",
		Verbs:    []string{"get", "patch", "update"},
		NoTables: true,
		Restrict: restrictToEphemeralContainers,
		Validate: validateAt("ephemeralcontainers"),
	}
}

func restrictToEphemeralContainers(pod, live document.Value) document.Value {
	const name = "ephemeralContainers"
	return withSpecOnly(pod, live, withField(live.Get("spec"), name, pod.Lookup("spec", name)))
}

// withSpecOnly returns the live pod with another spec. Of the metadata it keeps only fields that an update can not change.
func withSpecOnly(pod, live, spec document.Value) document.Value {
	metadata := pod.Get("metadata")
	for _, name := range []string{"annotations", "deletionTimestamp", "finalizers", "generation", "labels", "ownerReferences"} {
		metadata = withField(metadata, name, live.Lookup("metadata", name))
	}
	return withField(pod.With("metadata", metadata).With("spec", spec), "status", live.Get("status"))
}
