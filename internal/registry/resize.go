package registry

import "github.com/cadastre/cadastre/document"

// resizeSubresource is the subresource resize, which changes the resource requests and limits of a running pod. Other changes
// are ignored, except that validation rejects added, removed, renamed or reordered containers. As in kube-apiserver the endpoint
// has no reset fields, so field managers become owners of the ignored fields.
func resizeSubresource() *Subresource {
	return &Subresource{
		Name:     "resize",
		Verbs:    []string{"get", "patch", "update"},
		NoTables: true,
		Restrict: restrictToResources,
		Validate: validateAt("resize"),
	}
}

// restrictToResources returns the live pod with the resources and resize policies of pod. If pod does not have the same
// containers as the live pod, it returns the changed containers too, so that validation rejects them.
func restrictToResources(pod, live document.Value) document.Value {
	lists := []string{"containers", "initContainers"}
	spec := withField(live.Get("spec"), "resources", pod.Lookup("spec", "resources"))
	for _, list := range lists {
		if pod.Lookup("spec", list).Len() != live.Lookup("spec", list).Len() {
			return pod
		}
		spec = withField(spec, list, withResources(pod.Lookup("spec", list), live.Lookup("spec", list)))
	}
	return withSpecOnly(pod, live, spec)
}

// withResources returns the live containers with the resources and resize policies of containers, a list of the same length. If
// names or their order differ, it returns containers unchanged.
func withResources(containers, live document.Value) document.Value {
	if containers.Len() == 0 {
		return containers
	}
	var all []document.Value
	for i, was := range live.Items() {
		container := containers.At(i)
		if container.Get("name").Text() != was.Get("name").Text() {
			return containers
		}
		for _, name := range []string{"resources", "resizePolicy"} {
			was = withField(was, name, container.Get(name))
		}
		all = append(all, was)
	}
	return document.NewList(all...)
}
