package builtin

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

func warnPodNameStart(c *checker, name, _ document.Value) {
	if problems := formats["dns-label"].check(name.Text()); len(problems) > 0 {
		c.warn(fmt.Sprintf("this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", problems))
	}
}

// warnContainers adds the warnings about the containers of a pod or pod template, and about ports that several containers
// use.
func warnContainers(c *checker, pod, _ document.Value) {
	spec, annotations := pod.Get("spec"), pod.Lookup("metadata", "annotations")
	if annotations.Len() > 0 && isAbsentOrNull(spec.Lookup("securityContext", "seccompProfile")) {
		c.warnOfSeccomp(annotations, seccompAnnotation)
	}
	base := len(c.path)
	c.push("spec")
	var few [maxLinearSearch]portAt
	ports := few[:0]
	c.forEachContainer(spec, func(container document.Value) {
		if annotations.Len() > 0 {
			c.warnOfAnnotations(pod, container, base)
		}
		c.warnFractionalResources(container.Get("resources"))
		c.warnHiddenVariables(container.Get("env"))
		for i, p := range container.Get("ports").Items() {
			last := len(c.path)
			ports = append(ports, portAt{p, intValue(p.Get("containerPort")), c.path[last-2].name, c.path[last-1].index, i})
		}
	})
	c.pop()
	if len(ports) > 0 {
		c.warnPorts(ports)
	}
}

// warnOfAnnotations adds the warnings about the legacy annotations for a container. base is the number of steps in the path of
// the pod template, or 0 for a pod. AppArmor annotations of pods are omitted, because warnAppArmor reports them earlier.
func (c *checker) warnOfAnnotations(pod, container document.Value, base int) {
	annotations, name := pod.Lookup("metadata", "annotations"), container.Get("name").Text()
	where := c.path
	c.path = c.path[:base]
	if isAbsentOrNull(container.Lookup("securityContext", "seccompProfile")) {
		c.warnOfSeccomp(annotations, containerSeccompAnnotation+name)
	}
	if base > 0 {
		c.warnOfAppArmor(pod, container)
	}
	c.path = where
}

func (c *checker) warnOfSeccomp(annotations document.Value, key string) {
	if !isAbsentOrNull(annotations.Get(key)) {
		c.addWarning(c.keyPath(key, "metadata", "annotations") + `: non-functional in v1.27+; use the "seccompProfile" field instead`)
	}
}

// warnOfAppArmor adds a warning if a container has an AppArmor annotation, and neither the container nor the pod has an
// equivalent appArmorProfile.
func (c *checker) warnOfAppArmor(pod, container document.Value) {
	key := appArmorAnnotation + container.Get("name").Text()
	annotation, ofPod := pod.Lookup("metadata", "annotations", key), pod.Lookup("spec", "securityContext", "appArmorProfile")
	if isAbsentOrNull(annotation) || !isAbsentOrNull(container.Lookup("securityContext", "appArmorProfile")) || profileMatches(annotation.Text(), ofPod) {
		return
	}
	c.addWarning(c.keyPath(key, "metadata", "annotations") + `: deprecated since v1.30; use the "appArmorProfile" field instead`)
}

// profileMatches reports whether annotation, the value of an AppArmor annotation, is equivalent to profile.
func profileMatches(annotation string, profile document.Value) bool {
	if isAbsentOrNull(profile) {
		return false
	}
	file, isLocal := strings.CutPrefix(annotation, "localhost/")
	switch profile.Get("type").Text() {
	case "Unconfined":
		return annotation == "unconfined"
	case "RuntimeDefault":
		return annotation == "runtime/default"
	case "Localhost":
		return isLocal && file != "" && file == profile.Get("localhostProfile").Text()
	}
	return false
}

// warnAppArmor adds the warnings about the AppArmor annotations of a pod, unless it is a Windows pod.
func warnAppArmor(c *checker, pod, _ document.Value) {
	if pod.Lookup("metadata", "annotations").Len() == 0 || pod.Lookup("spec", "os", "name").Text() == "windows" {
		return
	}
	for _, list := range containerLists {
		for _, container := range pod.Lookup("spec", list).Items() {
			c.warnOfAppArmor(pod, container)
		}
	}
}

// isFractional reports whether a value is a quantity that is not an integer.
func isFractional(v document.Value) bool {
	if text := v.Text(); !strings.ContainsAny(text, ".munpeE") {
		return false // nearly all quantities are integers
	}
	q := quantityValue(v)
	return q.MilliValue()%1000 != 0
}

// warnFractional adds a warning if the quantity of the named resource, which is measured in bytes, is not an integer.
func (c *checker) warnFractional(amounts document.Value, name string, below ...string) {
	if v := amounts.Get(name); isFractional(v) {
		q := quantityValue(v)
		c.addWarning(fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", c.keyPath(name, below...), q.String()))
	}
}

func (c *checker) warnFractionalResources(resources document.Value) {
	if resources.Len() == 0 {
		return
	}
	for _, name := range [...]string{"memory", "ephemeral-storage"} {
		c.warnFractional(resources.Get("limits"), name, "resources", "limits")
		c.warnFractional(resources.Get("requests"), name, "resources", "requests")
	}
}

func warnWholeBytes(c *checker, amounts, _ document.Value) {
	c.warnFractional(amounts, "memory")
	c.warnFractional(amounts, "ephemeral-storage")
}

// warnWholeStorage adds a warning if a storage quantity in the spec of a PersistentVolumeClaim is not an integer.
func warnWholeStorage(c *checker, spec, _ document.Value) {
	resources := spec.Get("resources")
	c.warnFractional(resources.Get("requests"), "storage", "resources", "requests")
	c.warnFractional(resources.Get("limits"), "storage", "resources", "limits")
}

// warnHiddenVariables adds a warning for each environment variable that overrides an earlier variable of the same name without
// referencing it in its value.
func (c *checker) warnHiddenVariables(env document.Value) {
	for i, v := range env.Items() {
		name, value := v.Get("name").Text(), v.Get("value").Text()
		if i == 0 || c.firstIndex(env, "name", name, false) == i {
			continue
		}
		if ref := "$(" + name + ")"; isAbsentOrNull(v.Get("valueFrom")) && value != ref && strings.Contains(value, ref) {
			continue
		}
		c.push("env")
		c.pushItem(i)
		c.warn(fmt.Sprintf("hides previous definition of %q, which may be dropped when using apply", name))
		c.pop()
		c.pop()
	}
}
