package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// countPresent returns the number of names whose fields in value, a map, are neither absent nor null.
func countPresent(value document.Value, names ...string) (n int) {
	for _, name := range names {
		if !isAbsentOrNull(value.Get(name)) {
			n++
		}
	}
	return n
}

// checkEnvSources requires that valueFrom of an environment variable has exactly one source, and that value is empty.
func checkEnvSources(c *checker, valueFrom, _ document.Value) {
	variable, _, _ := c.enclosing("EnvVar")
	switch n := countPresent(valueFrom, "fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"); {
	case n == 0:
		c.invalid("", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case variable.Get("value").Text() != "":
		c.invalid("", "may not be specified when `value` is not empty")
	case n > 1:
		c.invalid("", "may not have more than one field specified at a time")
	}
}

func checkEnvFromSources(c *checker, source, _ document.Value) {
	item := c.path[len(c.path)-1]
	c.pop() // kube-apiserver reports the error at the path of the list
	switch countPresent(source, "configMapRef", "secretRef") {
	case 0:
		c.invalid("", "must specify one of: `configMapRef` or `secretRef`")
	case 2:
		c.invalid("", "may not have more than one field specified at a time")
	}
	c.path = append(c.path, item)
}

// References of the downward API. Each list is in the order of kube-apiserver's errors.
var (
	// fieldsForEnv are the field paths that environment variables can reference.
	fieldsForEnv = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	// fieldsForFiles are the field paths that files of downward API volumes can reference.
	fieldsForFiles = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
	// containerAmounts are the resources that environment variables and files can reference.
	containerAmounts = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}
	// hugePagesAmounts are the prefixes of huge page resources, which environment variables and files can also reference.
	hugePagesAmounts = []string{"limits.hugepages-", "requests.hugepages-"}
	// convertibleFields are all field paths of a pod that kube-apiserver recognizes.
	convertibleFields = []string{
		"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid", "spec.nodeName",
		"spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP",
		"status.hostIPs", "status.podIP", "status.podIPs",
	}
)

func checkFieldRef(c *checker, ref, _ document.Value) { c.checkFieldReference(ref, fieldsForEnv) }

func (c *checker) checkFieldReference(ref document.Value, allowed []string) {
	version, fieldPath := ref.Get("apiVersion").Text(), ref.Get("fieldPath").Text()
	switch {
	case version == "":
		c.required("", "apiVersion")
		return
	case fieldPath == "":
		c.required("", "fieldPath")
		return
	case version != "v1":
		c.invalid(fieldPath, "error converting fieldPath: unsupported pod version: "+version, "fieldPath")
		return
	}
	name, key, hasKey := splitSubscript(fieldPath)
	switch {
	case hasKey && name == "metadata.annotations":
		c.invalidAll(strings.ToLower(key), formats["qualified-name"].check(strings.ToLower(key)))
	case hasKey && name == "metadata.labels":
		c.invalidAll(key, formats["qualified-name"].check(key))
	case hasKey:
		c.invalid(fieldPath, fmt.Sprintf("error converting fieldPath: field label does not support subscript: %s", fieldPath), "fieldPath")
	case name == "spec.host" && slices.Contains(allowed, "spec.nodeName"):
	case !slices.Contains(convertibleFields, name) && name != "spec.host":
		c.invalid(fieldPath, fmt.Sprintf("error converting fieldPath: field label not supported: %s", fieldPath), "fieldPath")
	case !slices.Contains(allowed, name):
		c.unsupported(name, allowed, "fieldPath")
	}
}

// splitSubscript splits a field path with a subscript, such as metadata.labels['app'], into name (metadata.labels) and key
// (app). ok is false if path has no subscript.
func splitSubscript(path string) (name, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return path, "", false
	}
	name, key, ok = strings.Cut(rest, "['")
	if !ok || name == "" {
		return path, "", false
	}
	return name, key, true
}

func checkResourceRef(c *checker, ref, _ document.Value) { c.checkResourceReference(ref, false) }

func (c *checker) checkResourceReference(ref document.Value, ofVolume bool) {
	name := ref.Get("resource").Text()
	isHugePages := slices.ContainsFunc(hugePagesAmounts, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	switch {
	case ofVolume && ref.Get("containerName").Text() == "":
		c.required("", "containerName")
	case name == "":
		c.required("", "resource")
	case !slices.Contains(containerAmounts, name) && !isHugePages:
		c.unsupported(name, containerAmounts, "resource")
	}
	c.checkDivisor(name, isHugePages, ref.Get("divisor").Text())
}

func (c *checker) checkDivisor(name string, isHugePages bool, divisor string) {
	amount, err := ParseQuantity(divisor)
	if err != nil || amount.IsZero() {
		return
	}
	bytes := []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	what, allowed := "", bytes
	switch _, kind, _ := strings.Cut(name, "."); {
	case isHugePages:
		what = "hugepages"
	case !slices.Contains(containerAmounts, name):
		return
	case kind == "cpu":
		if !slices.Contains([]string{"1m", "1"}, amount.String()) {
			c.invalid(name, "only divisor's values 1m and 1 are supported with the cpu resource", "divisor")
		}
		return
	case kind == "ephemeral-storage":
		what = "local ephemeral storage"
	default:
		what = kind
	}
	if !slices.Contains(allowed, amount.String()) {
		c.invalid(name, fmt.Sprintf("only divisor's values %s are supported with the %s resource", strings.Join(allowed, ", "), what), "divisor")
	}
}

// findVolume returns the volume with the given name in the enclosing pod spec. ok is false if there is none, or if it has
// validation errors. If a volume claim template of an enclosing StatefulSet has the name, findVolume returns an absent volume
// and true.
func (c *checker) findVolume(name string) (volume document.Value, ok bool) {
	if spec, _, inside := c.enclosing("StatefulSetSpec"); inside {
		for _, claim := range spec.Get("volumeClaimTemplates").Items() {
			if claim.Lookup("metadata", "name").Text() == name {
				return document.Value{}, true
			}
		}
	}
	spec, _, _ := c.enclosing("PodSpec")
	volumes := spec.Get("volumes")
	if i := c.firstIndex(volumes, "name", name, true); i >= 0 {
		return volumes.At(i), true
	}
	return document.Value{}, false
}

func checkMountedVolume(c *checker, value, _ document.Value) {
	if _, ok := c.findVolume(value.Text()); !ok {
		c.notFound(value.Text())
	}
}

func checkMountPath(c *checker, mount, _ document.Value) {
	name, at := mount.Get("name").Text(), mount.Get("mountPath").Text()
	if i := c.firstIndex(c.list, "mountPath", at, false); i >= 0 && i < c.item {
		c.invalid(at, "must be unique", "mountPath")
	}
	container, _, _ := c.enclosing("ContainerCommon")
	devices := container.Get("volumeDevices")
	if c.firstIndex(devices, "name", name, false) >= 0 {
		c.invalid(name, "must not already exist in volumeDevices", "name")
	}
	if c.firstIndex(devices, "devicePath", at, false) >= 0 {
		c.invalid(at, "must not already exist as a path in volumeDevices", "mountPath")
	}
}

func checkMountPropagation(c *checker, mount, _ document.Value) {
	mode := mount.Get("mountPropagation").Text()
	if modes := []string{"Bidirectional", "HostToContainer", "None"}; !slices.Contains(modes, mode) {
		c.unsupported(mode, modes)
	}
	container, _, _ := c.enclosing("ContainerCommon")
	if mode == "Bidirectional" && !container.Lookup("securityContext", "privileged").Bool() {
		c.forbidden("Bidirectional mount propagation is available only to privileged containers")
	}
}

func checkRecursiveReadOnly(c *checker, mount, _ document.Value) {
	switch mode := mount.Get("recursiveReadOnly").Text(); mode {
	case "Disabled":
	case "Enabled", "IfPossible":
		if !mount.Get("readOnly").Bool() {
			c.forbidden("may only be specified when readOnly is true")
		}
		if propagation := mount.Get("mountPropagation"); !isAbsentOrNull(propagation) && propagation.Text() != "None" {
			c.forbidden("may only be specified when mountPropagation is None or not specified")
		}
	default:
		c.unsupported(mode, []string{"Disabled", "Enabled", "IfPossible"})
	}
}

func checkVolumeDevice(c *checker, device, _ document.Value) {
	name, at := device.Get("name").Text(), device.Get("devicePath").Text()
	if name == "" {
		c.required("", "name")
	} else if i := c.firstIndex(c.list, "name", name, false); i >= 0 && i < c.item {
		c.invalid(name, "must be unique", "name")
	}
	volume, found := c.findVolume(name)
	switch {
	case !found:
		c.notFound(name, "name")
	case !volume.IsAbsent() && countPresent(volume, "persistentVolumeClaim", "ephemeral") == 0:
		c.invalid(name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode", "name")
	}
	if at == "" {
		c.required("", "devicePath")
	}
	if i := c.firstIndex(c.list, "devicePath", at, false); i >= 0 && i < c.item {
		c.invalid(at, "must be unique", "devicePath")
	}
	if len(backstepProblems(at)) > 0 {
		c.invalid(at, "can not contain backsteps ('..')", "devicePath")
	}
	container, _, _ := c.enclosing("ContainerCommon")
	mounts := container.Get("volumeMounts")
	if c.firstIndex(mounts, "name", name, false) >= 0 {
		c.invalid(name, "must not already exist in volumeMounts", "name")
	}
	if c.firstIndex(mounts, "mountPath", at, false) >= 0 {
		c.invalid(at, "must not already exist as a path in volumeMounts", "devicePath")
	}
}

func checkSleepSeconds(c *checker, action, _ document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	grace := spec.Get("terminationGracePeriodSeconds")
	maximum := intValue(grace)
	if maximum < 0 {
		maximum = 1 // a negative grace period is normalized to 1 before validation
	}
	if n := intValue(action.Get("seconds")); !isAbsentOrNull(grace) && (n < 0 || n > maximum) {
		c.invalid(n, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", maximum))
	}
}
