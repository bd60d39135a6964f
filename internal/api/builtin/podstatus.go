package builtin

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// statusLists pairs each list of container statuses in a pod's status with the list of containers in its spec. The name of
// the list in the spec is "" for ephemeral containers, because the checks of restart policies and resources do not apply to
// them.
var statusLists = [...][2]string{{"containerStatuses", "containers"}, {"initContainerStatuses", "initContainers"}, {"ephemeralContainerStatuses", ""}}

// checkPodAnnotationsUpdate validates the annotations of a pod in an update of its status.
func checkPodAnnotationsUpdate(c *checker, pod, oldPod document.Value) {
	c.checkFrozenAnnotations(pod.Lookup("metadata", "annotations"), oldPod.Lookup("metadata", "annotations"))
	checkPodAnnotations(c, pod, oldPod)
}

// checkContainerTransitions rejects a change of a container status from terminated to another state, unless the restart policy
// of the container allows a restart.
func checkContainerTransitions(c *checker, pod, oldPod document.Value) {
	spec := oldPod.Get("spec")
	for _, lists := range statusLists {
		statuses, old := pod.Lookup("status", lists[0]), oldPod.Lookup("status", lists[0])
		if old.Len() == 0 || lists[1] != "" && hasRestartAllRule(spec) {
			continue
		}
		c.push("status")
		c.push(lists[0])
		for i, oldValue := range old.Items() {
			ended := oldValue.Lookup("state", "terminated")
			if isAbsentOrNull(ended) {
				continue
			}
			again := countRunning(statuses, oldValue.Get("name").Text())
			if lists[1] != "" && again > 0 {
				again = 1 // several statuses with the same name cause one error, except for ephemeral containers
				if isRestarted(spec, spec.Get(lists[1]), oldValue.Get("name").Text(), intValue(ended.Get("exitCode"))) {
					again = 0
				}
			}
			c.pushItem(i)
			for range again {
				c.forbidden("may not be transitioned to non-terminated state", "state")
			}
			c.pop()
		}
		c.pop()
		c.pop()
	}
}

// countRunning returns the number of container statuses with the given name that are not terminated.
func countRunning(statuses document.Value, name string) (n int) {
	for _, s := range statuses.Items() {
		if s.Get("name").Text() == name && isAbsentOrNull(s.Lookup("state", "terminated")) {
			n++
		}
	}
	return n
}

// hasRestartAllRule reports whether a restart policy rule of any container restarts all containers of the pod.
func hasRestartAllRule(spec document.Value) bool {
	for _, list := range [...]string{"initContainers", "containers"} {
		for _, container := range spec.Get(list).Items() {
			for _, rule := range container.Get("restartPolicyRules").Items() {
				if rule.Get("action").Text() == "RestartAllContainers" {
					return true
				}
			}
		}
	}
	return false
}

// isRestarted reports whether the container with the given name is restarted after it exits with exitCode; false if containers
// has no such container.
func isRestarted(spec, containers document.Value, name string, exitCode int64) bool {
	for _, container := range containers.Items() {
		if container.Get("name").Text() == name {
			return containerRestarts(container, spec.Get("restartPolicy").Text(), exitCode)
		}
	}
	return false
}

func containerRestarts(container document.Value, policy string, exitCode int64) bool {
	if own := container.Get("restartPolicy"); !isAbsentOrNull(own) {
		for _, rule := range container.Get("restartPolicyRules").Items() {
			if codes := rule.Get("exitCodes"); !isAbsentOrNull(codes) && matchesCode(codes, exitCode) {
				if action := rule.Get("action").Text(); action == "Restart" || action == "RestartAllContainers" {
					return true
				}
				break
			}
		}
		policy = own.Text()
	}
	switch policy {
	case "Never":
		return false
	case "OnFailure":
		return exitCode != 0
	}
	return true
}

func matchesCode(codes document.Value, exitCode int64) bool {
	found := false
	for _, v := range codes.Get("values").Items() {
		found = found || intValue(v) == exitCode
	}
	switch codes.Get("operator").Text() {
	case "In":
		return found
	case "NotIn":
		return !found
	}
	return false
}

func checkOwnClaim(c *checker, name, _ document.Value) {
	if c.firstIndex(c.scopes[0].value.Lookup("spec", "resourceClaims"), "name", name.Text(), false) < 0 {
		c.invalid(name.Text(), "must match the name of an entry in `spec.resourceClaims`")
	}
}

// checkHostIP requires that status.hostIP of a pod equals the first item of status.hostIPs.
func checkHostIP(c *checker, pod, _ document.Value) {
	status := pod.Get("status")
	if first := status.Get("hostIPs").At(0).Get("ip").Text(); first != status.Get("hostIP").Text() {
		c.push("status")
		c.push("hostIPs")
		c.pushItem(0)
		c.invalid(first, "must be equal to `hostIP`", "ip")
		c.path = c.path[:len(c.path)-3]
	}
}

// checkContainerUsers validates the Linux user and group IDs in container statuses.
func checkContainerUsers(c *checker, pod, _ document.Value) {
	system := pod.Lookup("spec", "os", "name").Text()
	c.forEachStatus(pod, func(_, status document.Value) {
		user := status.Lookup("user", "linux")
		if isAbsentOrNull(user) {
			return
		}
		c.push("user")
		defer c.pop()
		if system == "windows" {
			c.forbidden("cannot be set for a windows pod", "linux")
			return
		}
		c.push("linux")
		if uid := intValue(user.Get("uid")); uid < 0 || uid > math.MaxUint32 {
			c.invalid(uid, fmt.Sprintf("must be between 0 and %d, inclusive", uint32(math.MaxUint32)), "uid")
		}
		c.invalidAll(intValue(user.Get("gid")), validation.IsValidGroupID(intValue(user.Get("gid"))), "gid")
		c.push("supplementalGroups")
		for i, group := range user.Get("supplementalGroups").Items() {
			c.pushItem(i)
			c.invalidAll(intValue(group), validation.IsValidGroupID(intValue(group)))
			c.pop()
		}
		c.pop()
		c.pop()
	})
}

// forEachStatus calls visit with each container status of pod, and with containers, the list in the pod's spec that contains
// the status's container; it is absent for ephemeral containers. During the call, the current path is the path of the status.
func (c *checker) forEachStatus(pod document.Value, visit func(containers, status document.Value)) {
	c.push("status")
	for _, lists := range statusLists {
		c.push(lists[0])
		for i, status := range pod.Lookup("status", lists[0]).Items() {
			c.pushItem(i)
			visit(pod.Lookup("spec", lists[1]), status)
			c.pop()
		}
		c.pop()
	}
	c.pop()
}

// checkAllocatedResources validates allocatedResourcesStatus in container statuses: the resources that are allocated to a
// container and their health.
func checkAllocatedResources(c *checker, pod, _ document.Value) {
	c.forEachStatus(pod, func(containers, status document.Value) {
		allocated := status.Get("allocatedResourcesStatus")
		if allocated.Len() > 0 && c.path[1].name == "ephemeralContainerStatuses" {
			c.forbidden("must not be specified in container status", "allocatedResourcesStatus")
			return
		}
		c.push("allocatedResourcesStatus")
		for i, resource := range allocated.Items() {
			c.pushItem(i)
			c.checkAllocatedResource(resource, containers, status.Get("name").Text())
			c.pop()
		}
		c.pop()
	})
}

func (c *checker) checkAllocatedResource(allocated, containers document.Value, container string) {
	name := allocated.Get("name").Text()
	for _, spec := range containers.Items() {
		if spec.Get("name").Text() != container {
			continue
		}
		if !isRequestedResource(spec.Get("resources"), name) && !c.isMappedResource(spec, name) {
			problem := "must match one of the container's resource requests"
			if strings.HasPrefix(name, "claim:") {
				problem = "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"
			}
			c.invalid(name, problem, "name")
		}
		break
	}
	c.push("resources")
	for i, r := range allocated.Get("resources").Items() {
		c.pushItem(i)
		c.checkHealth(r)
		if first := c.firstIndex(allocated.Get("resources"), "resourceID", r.Get("resourceID").Text(), false); first < i {
			c.duplicate(r.Get("resourceID").Text(), "resourceID")
		}
		c.pop()
	}
	c.pop()
}

// maxHealthMessageLength is the maximum length of the message about a resource's health, in bytes.
const maxHealthMessageLength = 1024

func (c *checker) checkHealth(r document.Value) {
	if health := r.Get("health").Text(); !slices.Contains(healthStates, health) {
		c.unsupported(health, healthStates, "health")
	}
	if message := r.Get("message"); !isAbsentOrNull(message) && message.Text() == "" {
		c.required("must be non-empty if specified", "message")
	} else if len(message.Text()) > maxHealthMessageLength {
		c.tooLong(maxHealthMessageLength, "message")
	}
}

var healthStates = []string{"Healthy", "Unhealthy", "Unknown"}

// isMappedResource reports whether name has the form claim:NAME/REQUEST, and the pod's status maps that request of the claim to an
// extended resource that container requests.
func (c *checker) isMappedResource(container document.Value, name string) bool {
	status := c.scopes[0].value.Lookup("status", "extendedResourceClaimStatus")
	request, ok := strings.CutPrefix(name, "claim:"+status.Get("resourceClaimName").Text()+"/")
	if !ok || request == "" {
		return false
	}
	for _, mapping := range status.Get("requestMappings").Items() {
		amount := container.Lookup("resources", "requests", mapping.Get("resourceName").Text())
		if mapping.Get("containerName").Text() != container.Get("name").Text() || mapping.Get("requestName").Text() != request || isAbsentOrNull(amount) {
			continue
		}
		if q := quantityValue(amount); !q.IsZero() {
			return true
		}
	}
	return false
}

// isRequestedResource reports whether resources, those of a container, contain the resource name or, if name has the form
// claim:NAME[/REQUEST], that claim.
func isRequestedResource(resources document.Value, name string) bool {
	if !strings.HasPrefix(name, "claim:") {
		return !isAbsentOrNull(resources.Lookup("requests", name))
	}
	for _, claim := range resources.Get("claims").Items() {
		full := "claim:" + claim.Get("name").Text()
		if request := claim.Get("request").Text(); request != "" {
			full += "/" + request
		}
		if full == name {
			return true
		}
	}
	return false
}

// checkExtendedClaim validates status.extendedResourceClaimStatus of a pod, which maps the extended resources of containers to
// requests of a ResourceClaim.
func checkExtendedClaim(c *checker, claim, _ document.Value) {
	mappings, spec := claim.Get("requestMappings"), c.scopes[0].value.Get("spec")
	c.push("requestMappings")
	if mappings.Len() == 0 {
		c.required("at least one request mapping is required")
	}
	seen := map[[3]string]bool{}
	for i, m := range mappings.Items() {
		container, resource, request := m.Get("containerName").Text(), m.Get("resourceName").Text(), m.Get("requestName").Text()
		c.pushItem(i)
		if found := containerOf(spec, container); found.IsAbsent() {
			c.invalid(container, "must match the name of an entry in spec.initContainers.name or spec.containers.name", "containerName")
		} else if isAbsentOrNull(found.Lookup("resources", "requests", resource)) {
			c.invalid(resource, "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests", "resourceName")
		}
		here := c.path
		c.path = c.path[:len(c.path)-2]
		c.invalidAll(request, formats["dns-label"].check(request), "requestName")
		c.path = here
		if key := [3]string{container, resource, request}; seen[key] {
			c.duplicate(container, "containerName")
			c.duplicate(resource, "resourceName")
			c.duplicate(request, "requestName")
		} else {
			seen[key] = true
		}
		c.pop()
	}
	c.pop()
	if name := claim.Get("resourceClaimName").Text(); name == "" {
		c.required("", "resourceClaimName")
	} else {
		c.invalidAll(name, formats["dns-subdomain"].check(name), "resourceClaimName")
	}
}

// containerOf returns the main container with the given name or, if there is none, the init container with that name; an absent
// value if spec has neither.
func containerOf(spec document.Value, name string) document.Value {
	for _, list := range [...]string{"containers", "initContainers"} {
		for _, container := range spec.Get(list).Items() {
			if container.Get("name").Text() == name {
				return container
			}
		}
	}
	return document.Value{}
}
