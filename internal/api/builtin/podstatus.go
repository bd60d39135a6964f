package builtin

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// statusLists are the lists of container statuses with the lists of their containers. Ephemeral containers have "",
// because checks of restart policies and resources do not apply to them.
var statusLists = [...][2]string{{"containerStatuses", "containers"}, {"initContainerStatuses", "initContainers"}, {"ephemeralContainerStatuses", ""}}

// podAnnotationsUpdate validates the annotations in status updates.
func podAnnotationsUpdate(c *checker, pod, oldPod document.Value) {
	c.frozenAnnotations(pod.Lookup("metadata", "annotations"), oldPod.Lookup("metadata", "annotations"))
	podAnnotations(c, pod, oldPod)
}

// containerTransitions rejects the transition of a terminated container to another state, unless the container is
// restarted.
func containerTransitions(c *checker, pod, oldPod document.Value) {
	spec := oldPod.Get("spec")
	for _, lists := range statusLists {
		statuses, old := pod.Lookup("status", lists[0]), oldPod.Lookup("status", lists[0])
		if old.Len() == 0 || lists[1] != "" && restartsAll(spec) {
			continue
		}
		c.push("status")
		c.push(lists[0])
		for i, was := range old.Items() {
			ended := was.Lookup("state", "terminated")
			if isAbsentOrNull(ended) {
				continue
			}
			again := countRunning(statuses, was.Get("name").Text())
			if lists[1] != "" && again > 0 {
				again = 1 // only ephemeral containers are reported one by one
				if restarts(spec, spec.Get(lists[1]), was.Get("name").Text(), intValue(ended.Get("exitCode"))) {
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

// countRunning returns the number of statuses with a name that are not terminated.
func countRunning(statuses document.Value, name string) (n int) {
	for _, s := range statuses.Items() {
		if s.Get("name").Text() == name && isAbsentOrNull(s.Lookup("state", "terminated")) {
			n++
		}
	}
	return n
}

// restartsAll reports whether a restart rule of a container restarts all containers.
func restartsAll(spec document.Value) bool {
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

// restarts reports whether a container is restarted after it exits with a code.
func restarts(spec, containers document.Value, name string, exitCode int64) bool {
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

func ownClaim(c *checker, name, _ document.Value) {
	if c.firstIndex(c.scopes[0].now.Lookup("spec", "resourceClaims"), "name", name.Text(), false) < 0 {
		c.invalid(name.Text(), "must match the name of an entry in `spec.resourceClaims`")
	}
}

// hostIP requires that hostIP is the first of hostIPs.
func hostIP(c *checker, pod, _ document.Value) {
	status := pod.Get("status")
	if first := status.Get("hostIPs").At(0).Get("ip").Text(); first != status.Get("hostIP").Text() {
		c.push("status")
		c.push("hostIPs")
		c.pushItem(0)
		c.invalid(first, "must be equal to `hostIP`", "ip")
		c.path = c.path[:len(c.path)-3]
	}
}

// containerUsers validates the users of containers.
func containerUsers(c *checker, pod, _ document.Value) {
	system := pod.Lookup("spec", "os", "name").Text()
	c.forStatuses(pod, func(_, status document.Value) {
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
		c.invalidAll(intValue(user.Get("uid")), validation.IsValidUserID(intValue(user.Get("uid"))), "uid")
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

// forStatuses calls visit for every container status, with the list of containers that it belongs to; absent for
// ephemeral containers.
func (c *checker) forStatuses(pod document.Value, visit func(containers, status document.Value)) {
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

// allocatedResources validates the health of devices that are allocated to containers.
func allocatedResources(c *checker, pod, _ document.Value) {
	c.forStatuses(pod, func(containers, status document.Value) {
		allocated := status.Get("allocatedResourcesStatus")
		if allocated.Len() > 0 && c.path[1].name == "ephemeralContainerStatuses" {
			c.forbidden("must not be specified in container status", "allocatedResourcesStatus")
			return
		}
		c.push("allocatedResourcesStatus")
		for i, resource := range allocated.Items() {
			c.pushItem(i)
			c.allocatedResource(resource, containers, status.Get("name").Text())
			c.pop()
		}
		c.pop()
	})
}

func (c *checker) allocatedResource(allocated, containers document.Value, container string) {
	name := allocated.Get("name").Text()
	for _, spec := range containers.Items() {
		if spec.Get("name").Text() != container {
			continue
		}
		if !isRequestedResource(spec.Get("resources"), name) {
			problem := "must match one of the container's resource requests"
			if strings.HasPrefix(name, "claim:") {
				problem = "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
			}
			c.invalid(name, problem, "name")
		}
		break
	}
	c.push("resources")
	for i, r := range allocated.Get("resources").Items() {
		c.pushItem(i)
		c.health(r)
		if first := c.firstIndex(allocated.Get("resources"), "resourceID", r.Get("resourceID").Text(), false); first < i {
			c.duplicate(r.Get("resourceID").Text(), "resourceID")
		}
		c.pop()
	}
	c.pop()
}

// maxHealthMessageLength is the maximum length of a device health message.
const maxHealthMessageLength = 1024

func (c *checker) health(r document.Value) {
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

// isRequestedResource reports whether a container requests a resource, or a request of a claim.
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

// extendedClaim validates the mapping of a claim's requests to extended resources of containers.
func extendedClaim(c *checker, claim, _ document.Value) {
	mappings, spec := claim.Get("requestMappings"), c.scopes[0].now.Get("spec")
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

// containerOf returns a container by name, preferring main containers over init containers; absent if there is none.
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
