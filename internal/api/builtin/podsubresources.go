package builtin

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/qos"
)

// checkEphemeralContainersUpdate rejects updates that change or remove existing ephemeral containers of a pod. Their order may
// change.
func checkEphemeralContainersUpdate(c *checker, pod, oldPod document.Value) {
	const name = "ephemeralContainers"
	containers := pod.Lookup("spec", name)
	c.push("spec")
	defer c.pop()
	t := c.itemType(name)
	for _, old := range oldPod.Lookup("spec", name).Items() {
		switch i := lastIndexByName(containers, old.Get("name").Text()); {
		case i < 0:
			c.forbidden(fmt.Sprintf("existing ephemeral containers %q may not be removed\n", old.Get("name").Text()), name)
		case !semanticEqual(t, false, containers.At(i), old):
			c.forbidden(fmt.Sprintf("existing ephemeral containers %q may not be changed", old.Get("name").Text()), name)
		}
	}
}

// lastIndexByName returns the index in containers of the last container with the given name; -1 if there is none.
func lastIndexByName(containers document.Value, name string) int {
	last := -1
	for i, container := range containers.Items() {
		if container.Get("name").Text() == name {
			last = i
		}
	}
	return last
}

// itemType returns the type of the items of list, a field of the value at the current path; nil if the type is unknown.
func (c *checker) itemType(list string) *Type {
	if t, _ := fieldType(c.currentType(), list); t != nil {
		return t.Elem
	}
	return nil
}

// checkPodResize validates an update of a pod's resize subresource: only CPU and memory may change, requests and limits may not
// be removed, and the QoS class must remain the same.
func checkPodResize(c *checker, pod, oldPod document.Value) {
	spec, old := pod.Get("spec"), oldPod.Get("spec")
	c.push("spec")
	defer c.pop()
	before := oldPod.Lookup("status", "qosClass").Text()
	if before == "" {
		before = qos.Class(old)
	}
	if before != qos.Class(spec) {
		c.invalid(pod.Lookup("status", "qosClass").Text(), "Pod QOS Class may not change as a result of resizing")
	}
	if !supportsResize(oldPod) {
		c.forbidden("Pod running on node without support for resize")
	}
	hasPodLevel := hasResources(spec) || hasResources(old)
	if hasPodLevel {
		c.checkResizedPodLevel(spec.Get("resources"), old.Get("resources"))
	}
	errs := len(c.errs)
	c.checkSameOrder(spec, old, "containers")
	c.checkSameOrder(spec, old, "initContainers")
	if len(c.errs) > errs {
		return // the following checks compare containers by index
	}
	c.checkKeptResources(spec, old, "initContainers")
	c.checkKeptResources(spec, old, "containers")
	c.checkResizedContainers(spec, old)
	c.checkResizedInitContainers(spec, old)
	except := []string{"containers", "initContainers"}
	if hasPodLevel {
		except = append(except, "resources")
	}
	if len(c.errs) == 0 && !equalExcept(c.currentType(), spec, old, except) {
		c.forbidden(onlyCPUAndMemory)
	}
}

const onlyCPUAndMemory = "only cpu and memory resources are mutable"

// supportsResize reports whether the kubelet on the pod's node supports resize: the pod's status then contains the resources
// of running containers.
func supportsResize(pod document.Value) bool {
	for _, status := range pod.Lookup("status", "containerStatuses").Items() {
		if !isEmpty(status.Lookup("state", "running")) {
			return !isEmpty(status.Get("resources"))
		}
	}
	return true
}

// hasResources reports whether a pod spec has pod-level requests or limits.
func hasResources(spec document.Value) bool {
	return spec.Lookup("resources", "requests").Len()+spec.Lookup("resources", "limits").Len() > 0
}

// checkResizedPodLevel requires that a resize changes only CPU and memory of pod-level resources, and does not remove any.
func (c *checker) checkResizedPodLevel(resources, old document.Value) {
	if !isAbsentOrNull(old) && isAbsentOrNull(resources) {
		c.forbidden("pod-level resources cannot be removed", "resources")
		return
	}
	if !isAbsentOrNull(old) {
		for _, list := range []string{"requests", "limits"} {
			if isRemoved(resources.Get(list), old.Get(list)) {
				c.forbidden(fmt.Sprintf("pod-level resource %s cannot be removed", list), "resources", list)
			}
		}
	}
	masked := copyAmounts(resources, old)
	if isEmpty(old) && masked.Get("requests").Len()+masked.Get("limits").Len()+masked.Get("claims").Len() == 0 {
		masked = document.Value{}
	}
	if t, pointer := fieldType(c.currentType(), "resources"); !semanticEqual(t, pointer, masked, old) {
		c.forbidden("only cpu and memory resources are mutable at pod-level")
	}
}

// checkSameOrder rejects a resize that adds, removes, renames or reorders containers of the list name.
func (c *checker) checkSameOrder(spec, old document.Value, name string) {
	containers := spec.Get(name)
	if containers.Len() != old.Get(name).Len() {
		c.forbidden(name+" may not be added or removed on resize", name)
		return
	}
	c.push(name)
	for i, oldValue := range old.Get(name).Items() {
		if containers.At(i).Get("name").Text() != oldValue.Get("name").Text() {
			c.pushItem(i)
			c.forbidden(name+" may not be renamed or reordered on resize", "name")
			c.pop()
		}
	}
	c.pop()
}

// checkKeptResources rejects a resize that removes requests or limits of the containers in the list name.
func (c *checker) checkKeptResources(spec, old document.Value, name string) {
	c.push(name)
	for i, oldValue := range old.Get(name).Items() {
		c.pushItem(i)
		for _, list := range []string{"requests", "limits"} {
			if isRemoved(spec.Get(name).At(i).Lookup("resources", list), oldValue.Lookup("resources", list)) {
				c.forbidden(fmt.Sprintf("resource %s cannot be removed", list), "resources", list)
			}
		}
		c.pop()
	}
	c.pop()
}

// isRemoved reports whether any resource of old is absent from value. Both are ResourceLists.
func isRemoved(value, old document.Value) bool {
	for name := range old.Fields() {
		if value.Get(name).IsAbsent() {
			return true
		}
	}
	return false
}

// checkResizedContainers requires that a resize changes only CPU and memory of the main containers.
func (c *checker) checkResizedContainers(spec, old document.Value) {
	t := c.itemType("containers")
	for i, container := range spec.Get("containers").Items() {
		if oldValue := old.Get("containers").At(i); !semanticEqual(t, false, revertResize(container, oldValue), oldValue) {
			c.forbidden(onlyCPUAndMemory)
		}
	}
}

// checkResizedInitContainers requires that a resize changes only CPU and memory of init containers, and does not change init
// containers that are not sidecars if their resize policy is RestartContainer.
func (c *checker) checkResizedInitContainers(spec, old document.Value) {
	t := c.itemType("initContainers")
	c.push("initContainers")
	for i, container := range spec.Get("initContainers").Items() {
		oldValue := old.Get("initContainers").At(i)
		c.pushItem(i)
		if !semanticEqual(t, false, revertResize(container, oldValue), oldValue) {
			c.forbidden("only cpu and memory resources for init or sidecar containers are mutable")
		}
		if container.Get("restartPolicy").Text() != "Always" && !semanticEqual(t, false, container, oldValue) {
			for _, policy := range container.Get("resizePolicy").Items() {
				if policy.Get("restartPolicy").Text() == restartContainer {
					c.forbidden("non-sidecar init containers with a resize policy of RestartContainer cannot be resized")
				}
			}
		}
		c.pop()
	}
	c.pop()
}

// revertResize returns container with the CPU and memory of old, so that the result can be compared with old.
func revertResize(container, old document.Value) document.Value {
	return container.With("resources", copyAmounts(container.Get("resources"), old.Get("resources")))
}

// copyAmounts returns resources with the CPU and memory amounts of old.
func copyAmounts(resources, old document.Value) document.Value {
	if isEmpty(resources) {
		resources = document.NewMap()
	}
	for _, list := range []string{"requests", "limits"} {
		masked := resources.Get(list)
		for _, name := range qos.Resources {
			masked = setField(masked, name, old.Lookup(list, name))
		}
		if masked.Len() == 0 {
			masked = document.Value{}
		}
		resources = setField(resources, list, masked)
	}
	return resources
}
