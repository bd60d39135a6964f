package builtin

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

func podNameStart(c *checker, name, _ document.Value) {
	if problems := formats["dns-label"].check(name.Text()); len(problems) > 0 {
		c.warn(fmt.Sprintf("this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", problems))
	}
}

// containerWarnings looks at the containers of a pod or of a template: at each, and at the ports of all.
func containerWarnings(c *checker, pod, _ document.Value) {
	spec, annotations := pod.Get("spec"), pod.Lookup("metadata", "annotations")
	if annotations.Len() > 0 && isNothing(spec.Lookup("securityContext", "seccompProfile")) {
		c.warnOfSeccomp(annotations, seccompAnnotation)
	}
	base := len(c.where)
	c.push("spec")
	var few [fewItems]placedPort
	ports := few[:0]
	c.forContainers(spec, func(container document.Value) {
		if annotations.Len() > 0 {
			c.warnOfAnnotations(pod, container, base)
		}
		c.fractionalResources(container.Get("resources"))
		c.hiddenVariables(container.Get("env"))
		for i, p := range container.Get("ports").Items() {
			last := len(c.where)
			ports = append(ports, placedPort{p, number(p.Get("containerPort")), c.where[last-2].name, c.where[last-1].index, i})
		}
	})
	c.pop()
	if len(ports) > 0 {
		c.portWarnings(ports)
	}
}

// warnOfAnnotations warns of annotations about a container, which are fields by now. A pod's about AppArmor are
// warned of before all else.
func (c *checker) warnOfAnnotations(pod, container document.Value, base int) {
	annotations, name := pod.Lookup("metadata", "annotations"), container.Get("name").Text()
	where := c.where
	c.where = c.where[:base]
	if isNothing(container.Lookup("securityContext", "seccompProfile")) {
		c.warnOfSeccomp(annotations, containerSeccompAnnotation+name)
	}
	if base > 0 {
		c.warnOfAppArmor(pod, container)
	}
	c.where = where
}

func (c *checker) warnOfSeccomp(annotations document.Value, key string) {
	if !isNothing(annotations.Get(key)) {
		c.say(c.keyed(key, "metadata", "annotations") + `: non-functional in v1.27+; use the "seccompProfile" field instead`)
	}
}

// warnOfAppArmor warns of an annotation that says more than the fields.
func (c *checker) warnOfAppArmor(pod, container document.Value) {
	key := appArmorAnnotation + container.Get("name").Text()
	annotation, ofPod := pod.Lookup("metadata", "annotations", key), pod.Lookup("spec", "securityContext", "appArmorProfile")
	if isNothing(annotation) || !isNothing(container.Lookup("securityContext", "appArmorProfile")) || saysSame(annotation.Text(), ofPod) {
		return
	}
	c.say(c.keyed(key, "metadata", "annotations") + `: deprecated since v1.30; use the "appArmorProfile" field instead`)
}

// saysSame reports whether an annotation about AppArmor says the same as a field.
func saysSame(annotation string, profile document.Value) bool {
	if isNothing(profile) {
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

// warnAppArmor warns of the annotations of a pod.
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

// isFractional reports whether a quantity is no whole number.
func isFractional(v document.Value) bool {
	if text := v.Text(); !strings.ContainsAny(text, ".munpeE") {
		return false // as nearly all are
	}
	q := amount(v)
	return q.MilliValue()%1000 != 0
}

// fractional warns of parts of bytes.
func (c *checker) fractional(amounts document.Value, name string, below ...string) {
	if v := amounts.Get(name); isFractional(v) {
		q := amount(v)
		c.say(fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", c.keyed(name, below...), q.String()))
	}
}

func (c *checker) fractionalResources(resources document.Value) {
	if resources.Len() == 0 {
		return
	}
	for _, name := range [...]string{"memory", "ephemeral-storage"} {
		c.fractional(resources.Get("limits"), name, "resources", "limits")
		c.fractional(resources.Get("requests"), name, "resources", "requests")
	}
}

func wholeBytes(c *checker, amounts, _ document.Value) {
	c.fractional(amounts, "memory")
	c.fractional(amounts, "ephemeral-storage")
}

// wholeStorage warns of parts of bytes in the spec of a claim.
func wholeStorage(c *checker, spec, _ document.Value) {
	resources := spec.Get("resources")
	c.fractional(resources.Get("requests"), "storage", "resources", "requests")
	c.fractional(resources.Get("limits"), "storage", "resources", "limits")
}

// hiddenVariables warns of variables that hide another of the same name without making use of it.
func (c *checker) hiddenVariables(env document.Value) {
	for i, v := range env.Items() {
		name, value := v.Get("name").Text(), v.Get("value").Text()
		if i == 0 || c.first(env, "name", name, false) == i {
			continue
		}
		if ref := "$(" + name + ")"; isNothing(v.Get("valueFrom")) && value != ref && strings.Contains(value, ref) {
			continue
		}
		c.push("env")
		c.pushItem(i)
		c.warn(fmt.Sprintf("hides previous definition of %q, which may be dropped when using apply", name))
		c.pop()
		c.pop()
	}
}
