package builtin

import (
	"github.com/cadastre/cadastre/document"
)

// The fields that Windows pods cannot have.
var (
	// windowsForbiddenFields are the paths of forbidden fields in the pod spec.
	windowsForbiddenFields = []string{
		"securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC",
		"securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy",
		"securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup",
		"securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy", "securityContext.seLinuxChangePolicy",
	}
	// windowsForbiddenContainerFields are the names of forbidden fields in the security contexts of containers.
	windowsForbiddenContainerFields = []string{
		"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
		"allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
	}
)

// checkOSFields rejects fields of a pod spec that the operating system in spec.os does not support.
func checkOSFields(c *checker, os, _ document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	system := os.Get("name").Text()
	switch system {
	case "":
		c.required("", "name")
		return
	case "linux", "windows":
	default:
		c.unsupported(system, []string{"linux", "windows"})
		return
	}
	c.pop() // report errors relative to the pod spec instead of spec.os
	if system == "linux" {
		c.checkLinuxPod(spec)
	} else {
		c.checkWindowsPod(spec)
	}
	c.push("os")
}

func (c *checker) checkLinuxPod(spec document.Value) {
	const detail = "windows options cannot be set for a linux pod"
	rejectOptions := func(of document.Value) {
		if !isAbsentOrNull(of.Lookup("securityContext", "windowsOptions")) {
			c.forbidden(detail, "securityContext", "windowsOptions")
		}
	}
	rejectOptions(spec)
	c.forEachContainer(spec, rejectOptions)
}

func (c *checker) checkWindowsPod(spec document.Value) {
	const detail = "cannot be set for a windows pod"
	for _, place := range windowsForbiddenFields {
		steps, _ := readPath(place)
		v := spec
		for _, s := range steps {
			v = v.Get(s.name)
		}
		flag := place == "hostPID" || place == "hostIPC"
		if isSetByClient(v) && !(flag && !v.Bool()) {
			c.forbidden(detail, place)
		}
	}
	c.forEachContainer(spec, func(container document.Value) {
		sc := container.Get("securityContext")
		for _, name := range windowsForbiddenContainerFields {
			if !isAbsentOrNull(sc.Get(name)) {
				c.forbidden(detail, "securityContext", name)
			}
		}
	})
}

// checkFileKeyVolumes requires that each fileKeyRef of an environment variable references an emptyDir volume of the pod.
func checkFileKeyVolumes(c *checker, spec, _ document.Value) {
	volumes := spec.Get("volumes")
	c.forEachContainer(spec, func(container document.Value) {
		c.push("env")
		for i, variable := range container.Get("env").Items() {
			ref := variable.Lookup("valueFrom", "fileKeyRef")
			if isAbsentOrNull(ref) {
				continue
			}
			name := ref.Get("volumeName").Text()
			c.pushItem(i)
			if at := c.firstIndex(volumes, "name", name, false); at < 0 {
				c.notFound(name, "valueFrom", "fileKeyRef", "volumeName")
			} else if isAbsentOrNull(volumes.At(at).Get("emptyDir")) {
				c.invalid(name, "referenced volume must be of type emptyDir", "valueFrom", "fileKeyRef", "volumeName")
			}
			c.pop()
		}
		c.pop()
	})
}

// checkMatchLabelKeys validates matchLabelKeys and mismatchLabelKeys of a pod affinity term.
func checkMatchLabelKeys(c *checker, term, _ document.Value) {
	selector := term.Get("labelSelector")
	keys, others := term.Get("matchLabelKeys"), term.Get("mismatchLabelKeys")
	if keys.Len()+others.Len() == 0 {
		return
	}
	c.checkLabelKeys("matchLabelKeys", keys, selector)
	c.checkLabelKeys("mismatchLabelKeys", others, selector)
	c.checkKeysInSelector(keys, selector)
	c.push("matchLabelKeys")
	for i, key := range keys.Items() {
		if c.firstIndex(others, "", key.Text(), false) >= 0 {
			c.pushItem(i)
			c.invalid(key.Text(), "exists in both matchLabelKeys and mismatchLabelKeys")
			c.pop()
		}
	}
	c.pop()
}

func (c *checker) checkLabelKeys(name string, keys, selector document.Value) {
	if keys.Len() > 0 && isAbsentOrNull(selector) {
		c.forbidden("must not be specified when labelSelector is not set", name)
		return
	}
	c.forEachText(name, keys, func(key string) { c.invalidAll(key, formats["qualified-name"].check(key)) })
}

// checkKeysInSelector rejects a key of matchLabelKeys if the label selector contains a requirement for the key other than the
// requirement that the server adds.
func (c *checker) checkKeysInSelector(keys, selector document.Value) {
	required := map[string]bool{}
	for key := range selector.Get("matchLabels").Fields() {
		required[key] = true
	}
	for _, e := range selector.Get("matchExpressions").Items() {
		key := e.Get("key").Text()
		last := -1
		for i, k := range keys.Items() {
			if k.Text() == key {
				last = i
			}
		}
		if last >= 0 && required[key] {
			c.pushItem(last)
			c.invalid(key, "exists in both matchLabelKeys and labelSelector")
			c.pop()
		}
		required[key] = true
	}
}

// checkControllerSelector requires that the selector of a ReplicationController matches the labels of its pod template.
func checkControllerSelector(c *checker, spec, _ document.Value) {
	have := spec.Lookup("template", "metadata", "labels")
	for key, value := range spec.Get("selector").Fields() {
		if label := have.Get(key); isAbsentOrNull(label) || label.Text() != value.Text() {
			c.invalid(errorMap(have), "`selector` does not match template `labels`", "template", "metadata", "labels")
			return
		}
	}
}
