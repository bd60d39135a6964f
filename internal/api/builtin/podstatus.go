package builtin

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// statusLists are the lists of containers' statuses, each with that of the containers. Ephemeral ones have none:
// what holds for containers that are restarted, or have resources, does not for them.
var statusLists = [...][2]string{{"containerStatuses", "containers"}, {"initContainerStatuses", "initContainers"}, {"ephemeralContainerStatuses", ""}}

// podAnnotationsUpdate checks annotations as a write to the status does.
func podAnnotationsUpdate(c *checker, pod, oldPod document.Value) {
	c.frozenAnnotations(pod.Lookup("metadata", "annotations"), oldPod.Lookup("metadata", "annotations"))
	podAnnotations(c, pod, oldPod)
}

// containerTransitions refuses that a container that has ended is said to run again, if the pod does
// not have it restarted.
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
			if isNothing(ended) {
				continue
			}
			again := countRunning(statuses, was.Get("name").Text())
			if lists[1] != "" && again > 0 {
				again = 1 // only ephemeral containers are looked at one by one
				if restarts(spec, spec.Get(lists[1]), was.Get("name").Text(), number(ended.Get("exitCode"))) {
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

// countRunning counts the statuses of a name that have not ended.
func countRunning(statuses document.Value, name string) (n int) {
	for _, s := range statuses.Items() {
		if s.Get("name").Text() == name && isNothing(s.Lookup("state", "terminated")) {
			n++
		}
	}
	return n
}

// restartsAll reports whether the end of a container can have all of them restarted.
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

// restarts reports whether the container of a name is restarted after it has ended so.
func restarts(spec, containers document.Value, name string, exitCode int64) bool {
	for _, container := range containers.Items() {
		if container.Get("name").Text() == name {
			return containerRestarts(container, spec.Get("restartPolicy").Text(), exitCode)
		}
	}
	return false
}

func containerRestarts(container document.Value, policy string, exitCode int64) bool {
	if own := container.Get("restartPolicy"); !isNothing(own) {
		for _, rule := range container.Get("restartPolicyRules").Items() {
			if codes := rule.Get("exitCodes"); !isNothing(codes) && matchesCode(codes, exitCode) {
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
		found = found || number(v) == exitCode
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
	if c.first(c.scopes[0].now.Lookup("spec", "resourceClaims"), "name", name.Text(), false) < 0 {
		c.invalid(name.Text(), "must match the name of an entry in `spec.resourceClaims`")
	}
}

// hostIP wants the first of the addresses of the host to be the one that is named alone.
func hostIP(c *checker, pod, _ document.Value) {
	status := pod.Get("status")
	if first := status.Get("hostIPs").At(0).Get("ip").Text(); first != status.Get("hostIP").Text() {
		c.push("status")
		c.push("hostIPs")
		c.pushItem(0)
		c.invalid(first, "must be equal to `hostIP`", "ip")
		c.where = c.where[:len(c.where)-3]
	}
}

// containerUsers checks as whom containers run.
func containerUsers(c *checker, pod, _ document.Value) {
	system := pod.Lookup("spec", "os", "name").Text()
	c.forStatuses(pod, func(_, status document.Value) {
		user := status.Lookup("user", "linux")
		if isNothing(user) {
			return
		}
		c.push("user")
		defer c.pop()
		if system == "windows" {
			c.forbidden("cannot be set for a windows pod", "linux")
			return
		}
		c.push("linux")
		c.invalidAll(number(user.Get("uid")), validation.IsValidUserID(number(user.Get("uid"))), "uid")
		c.invalidAll(number(user.Get("gid")), validation.IsValidGroupID(number(user.Get("gid"))), "gid")
		c.push("supplementalGroups")
		for i, group := range user.Get("supplementalGroups").Items() {
			c.pushItem(i)
			c.invalidAll(number(group), validation.IsValidGroupID(number(group)))
			c.pop()
		}
		c.pop()
		c.pop()
	})
}

// forStatuses calls a function at every container's status, with the containers that it may be about. Those of
// ephemeral containers are about none: nothing can be said about their resources.
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

// allocatedResources checks how the devices are that containers were given.
func allocatedResources(c *checker, pod, _ document.Value) {
	c.forStatuses(pod, func(containers, status document.Value) {
		allocated := status.Get("allocatedResourcesStatus")
		if allocated.Len() > 0 && c.where[1].name == "ephemeralContainerStatuses" {
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
		if !isAskedFor(spec.Get("resources"), name) {
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
		if first := c.first(allocated.Get("resources"), "resourceID", r.Get("resourceID").Text(), false); first < i {
			c.duplicate(r.Get("resourceID").Text(), "resourceID")
		}
		c.pop()
	}
	c.pop()
}

// mostHealthMessage is how long the words about a device may be.
const mostHealthMessage = 1024

func (c *checker) health(r document.Value) {
	if health := r.Get("health").Text(); !slices.Contains(healths, health) {
		c.unsupported(health, healths, "health")
	}
	if message := r.Get("message"); !isNothing(message) && message.Text() == "" {
		c.required("must be non-empty if specified", "message")
	} else if len(message.Text()) > mostHealthMessage {
		c.tooLong(mostHealthMessage, "message")
	}
}

var healths = []string{"Healthy", "Unhealthy", "Unknown"}

// isAskedFor reports whether a container asks for a resource, or for one of a claim.
func isAskedFor(resources document.Value, name string) bool {
	if !strings.HasPrefix(name, "claim:") {
		return !isNothing(resources.Lookup("requests", name))
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

// extendedClaim checks which requests of a claim are for which resources of which containers.
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
		} else if isNothing(found.Lookup("resources", "requests", resource)) {
			c.invalid(resource, "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests", "resourceName")
		}
		here := c.where
		c.where = c.where[:len(c.where)-2]
		c.invalidAll(request, formats["dns-label"].check(request), "requestName")
		c.where = here
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

// containerOf returns the container of a name; one that runs all the time before one that comes first.
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
