package limitranger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// annotation is the key of the pod annotation that lists the requests and limits which the plugin has set.
const annotation = "kubernetes.io/limit-ranger"

// defaults are the default requests and limits of a LimitRange for containers, by resource name.
type defaults struct{ requests, limits map[string]document.Value }

// containerDefaults returns the defaults of a LimitRange. If several of its items are for containers, later items take
// precedence.
func containerDefaults(items document.Value) defaults {
	d := defaults{map[string]document.Value{}, map[string]document.Value{}}
	for _, item := range items.Items() {
		if item.Get("type").Text() != "Container" {
			continue
		}
		for name, quantity := range item.Get("defaultRequest").Fields() {
			d.requests[name] = quantity
		}
		for name, quantity := range item.Get("default").Fields() {
			d.limits[name] = quantity
		}
	}
	return d
}

// withDefaults returns the pod with the defaults added to its containers, and an annotation that lists the added defaults. If
// it adds no default, it returns pod itself.
func withDefaults(pod document.Value, d defaults) document.Value {
	spec, added := pod.Get("spec"), []string(nil)
	for _, list := range []struct{ field, text string }{{"containers", "container"}, {"initContainers", "init container"}} {
		var items []document.Value
		changed := len(added)
		for _, container := range spec.Get(list.field).Items() {
			container, added = d.fillContainer(container, list.text, added)
			items = append(items, container)
		}
		if len(added) > changed {
			spec = spec.With(list.field, document.NewList(items...))
		}
	}
	if len(added) == 0 {
		return pod
	}
	metadata := pod.Get("metadata")
	text := document.NewString("LimitRanger plugin set: " + strings.Join(added, "; "))
	metadata = metadata.With("annotations", metadata.Get("annotations").With(annotation, text))
	return pod.With("metadata", metadata).With("spec", spec)
}

// fillContainer adds the missing defaults to a container. It appends a text for the annotation to added for the requests that
// it sets, and one for the limits. It returns the container and added.
func (d defaults) fillContainer(container document.Value, containerType string, added []string) (document.Value, []string) {
	resources := container.Get("resources")
	for _, list := range []struct {
		field, text string
		defaults    map[string]document.Value
	}{{"requests", "request", d.requests}, {"limits", "limit", d.limits}} {
		quantities, names := resources.Get(list.field), []string(nil)
		for name, quantity := range list.defaults {
			if quantities.Get(name).IsAbsent() {
				quantities, names = quantities.With(name, quantity), append(names, name)
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			resources = resources.With(list.field, quantities)
			added = append(added, fmt.Sprintf("%s %s for %s %s", strings.Join(names, ", "), list.text, containerType, container.Get("name").Text()))
		}
	}
	if !document.Same(resources, container.Get("resources")) {
		container = container.With("resources", resources)
	}
	return container, added
}
