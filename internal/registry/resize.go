package registry

import "github.com/cadastre/cadastre/document"

// resizeSubresource changes the resources of a running pod. All other changes are ignored, except that containers which are
// added, removed, renamed or reordered are rejected. As in kube-apiserver field managers own ignored fields, too: the endpoint
// has no reset fields.
func resizeSubresource() *Subresource {
	return &Subresource{
		Name:     "resize",
		Verbs:    []string{"get", "patch", "update"},
		NoTables: true,
		Restrict: restrictToResources,
		Validate: validateAt("resize"),
	}
}

// restrictToResources returns the live pod with the resources and resize policies of another one. A pod whose containers are not the
// same is returned as it is: validation rejects it.
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

// withResources returns the live containers with the resources and resize policies of others, of which there are as many. Containers
// in another order, or with other names, are returned as they are.
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
