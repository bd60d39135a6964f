package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// The names of the resources that Kubernetes defines. Other resources need a domain-qualified name.
var (
	// resourcesOfContainers are the resources that containers can request.
	resourcesOfContainers = []string{"cpu", "memory", "ephemeral-storage"}
	// resourcesOfQuotas are the resources that a ResourceQuota can limit.
	resourcesOfQuotas = []string{
		"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage",
		"requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods",
		"resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps",
		"services.nodeports", "services.loadbalancers",
	}
	// countedResources are the resources whose quantities must be integers.
	countedResources = []string{
		"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
		"persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
	}
	// resourcesOfPods are the resources, or their prefixes, that pod-level requests and limits can contain.
	resourcesOfPods = []string{"cpu", "hugepages-", "memory"}
)

func isHugePagesResource(name string) bool { return strings.HasPrefix(name, "hugepages-") }

// isNativeResource reports whether the name of a resource has no domain, or a domain that contains kubernetes.io.
func isNativeResource(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// isExtendedResource reports whether a name is a valid name of an extended resource, which is also a valid name in quotas
// with the prefix "requests.".
func isExtendedResource(name string) bool {
	return !isNativeResource(name) && !strings.HasPrefix(name, "requests.") && len(formats["qualified-name"].check("requests."+name)) == 0
}

func isKnownResource(name string) bool {
	return name == "storage" || slices.Contains(resourcesOfQuotas, name) || isHugePagesResource(name) || strings.HasPrefix(name, "requests.hugepages-")
}

func (c *checker) checkResourceName(name string) {
	problems := formats["qualified-name"].check(name)
	c.invalidAll(name, problems)
	if len(problems) == 0 && !strings.Contains(name, "/") && !isKnownResource(name) {
		c.invalid(name, "must be a standard resource type or fully qualified")
	}
}

func (c *checker) checkContainerResourceName(name string) {
	if slices.Contains(resourcesOfContainers, name) {
		return
	}
	c.checkResourceName(name)
	switch {
	case !strings.Contains(name, "/"):
		if !isHugePagesResource(name) {
			c.invalid(name, "must be a standard resource for containers")
		}
	case !isNativeResource(name) && !isExtendedResource(name):
		c.invalid(name, "doesn't follow extended resource name standard")
	}
}

func (c *checker) checkPodResourceName(name string) {
	before := len(c.errs)
	c.checkResourceName(name)
	if len(c.errs) == before && name != "cpu" && name != "memory" && !isHugePagesResource(name) {
		c.unsupported(name, resourcesOfPods)
	}
}

// quantityValue returns the quantity in v; 0 if v is absent or not a valid quantity.
func quantityValue(v document.Value) resource.Quantity {
	q, _ := ParseQuantity(v.Text())
	return q
}

// checkQuantity rejects v, a quantity of the resource name, if it is negative, or if it is a fraction and the resource is
// counted in integers.
func (c *checker) checkQuantity(name string, v document.Value) {
	if strings.HasPrefix(v.Text(), "-") {
		if q := quantityValue(v); q.Sign() < 0 {
			c.invalid(q.String(), "must be greater than or equal to 0")
		}
	}
	if slices.Contains(resourcesOfContainers, name) || isHugePagesResource(name) {
		return
	}
	if q := quantityValue(v); (slices.Contains(countedResources, name) || isExtendedResource(name)) && q.MilliValue()%1000 != 0 {
		c.invalid(v.Text(), "must be an integer")
	}
}

// checkHugePages requires that an amount of huge pages is a multiple of their size, unless the pod spec before the update contains
// other amounts already, which Kubernetes accepted before 1.20.
func (c *checker) checkHugePages(name string, v document.Value) {
	if hasWholePages(name, v) {
		return
	}
	if _, old, _ := c.enclosing("PodSpec"); hasPartialPages(old) {
		return
	}
	q := quantityValue(v)
	c.invalid(q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))
}

// hasWholePages reports whether v, an amount of the resource name, is a multiple of the page size if the resource is huge pages.
func hasWholePages(name string, v document.Value) bool {
	if !isHugePagesResource(name) {
		return true
	}
	size, err := ParseQuantity(strings.TrimPrefix(name, "hugepages-"))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 || size.Value() == 0 {
		return false
	}
	q := quantityValue(v)
	return q.Value()%size.Value() == 0
}

// hasPartialPages reports whether the containers or the overhead of a pod spec contain an amount of huge pages that is not a multiple of
// their size.
func hasPartialPages(spec document.Value) bool {
	isPartial := func(amounts document.Value) bool {
		for name, v := range amounts.Fields() {
			if !hasWholePages(name, v) {
				return true
			}
		}
		return false
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range spec.Get(list).Items() {
			if isPartial(container.Lookup("resources", "limits")) || isPartial(container.Lookup("resources", "requests")) {
				return true
			}
		}
	}
	return isPartial(spec.Get("overhead"))
}

func checkContainerResources(c *checker, r, _ document.Value) {
	if isAbsentOrNull(r) {
		return
	}
	c.checkRequirements(r, c.checkContainerResourceName)
	c.checkResourceClaims(r.Get("claims"))
}

func checkPodResources(c *checker, r, _ document.Value) {
	c.checkRequirements(r, c.checkPodResourceName)
	c.checkSufficientResources(r)
}

// checkResourceList validates the names and quantities of a ResourceList of a container.
func checkResourceList(c *checker, list, _ document.Value) {
	c.checkAmounts(list, c.checkContainerResourceName)
}

func (c *checker) checkAmounts(list document.Value, checkName func(string)) {
	if list.Kind() != document.Map {
		return
	}
	for i := range list.Len() {
		name, v := list.Field(i)
		if elsewhere := c.reportPath; elsewhere != nil {
			c.reportPath = append(slices.Clip(elsewhere), step{name: name, kind: stepKey})
			defer func() { c.reportPath = elsewhere }()
		}
		c.pushKey(name)
		checkName(name)
		c.checkQuantity(name, v)
		c.checkHugePages(name, v)
		c.pop()
	}
}

// checkRequirements validates limits and requests, and requires that no request exceeds its limit. checkName validates each
// resource name.
func (c *checker) checkRequirements(r document.Value, checkName func(string)) {
	limits, requests := r.Get("limits"), r.Get("requests")
	c.push("limits")
	c.checkAmounts(limits, checkName)
	c.pop()
	c.push("requests")
	if requests.Kind() == document.Map {
		for i := range requests.Len() {
			name, v := requests.Field(i)
			c.pushKey(name)
			checkName(name)
			c.checkQuantity(name, v)
			c.pop()
			c.checkRequest(name, v, limits.Get(name))
			c.pushKey(name)
			c.checkHugePages(name, v)
			c.pop()
		}
	}
	c.pop()
	has := func(list document.Value, matches func(string) bool) bool {
		for name := range list.Fields() {
			if matches(name) {
				return true
			}
		}
		return false
	}
	isPlain := func(name string) bool { return name == "cpu" || name == "memory" }
	if (has(limits, isHugePagesResource) || has(requests, isHugePagesResource)) && !has(limits, isPlain) && !has(requests, isPlain) {
		c.forbidden("HugePages require cpu or memory")
	}
}

// checkRequest requires that v, the request of the resource name, does not exceed limit. For a resource that cannot be
// overcommitted it requires that limit is set and equals v.
func (c *checker) checkRequest(name string, v, limit document.Value) {
	shared := isNativeResource(name) && !isHugePagesResource(name)
	if isAbsentOrNull(limit) {
		if !shared {
			last := c.path[len(c.path)-1]
			c.pop()
			c.required("Limit must be set for non overcommitable resources", "limits")
			c.path = append(c.path, last)
		}
		return
	}
	if v.Text() == limit.Text() {
		return
	}
	q, maximum := quantityValue(v), quantityValue(limit)
	switch order := q.Cmp(maximum); {
	case order != 0 && !shared:
		c.invalid(q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, maximum.String()))
	case order > 0:
		c.invalid(q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, maximum.String()))
	}
}

// checkResourceClaims requires that the claims of a container are distinct, and are names in spec.resourceClaims of the pod.
func (c *checker) checkResourceClaims(claims document.Value) {
	if claims.Len() == 0 {
		return
	}
	spec, _, _ := c.enclosing("PodSpec")
	ofPod := spec.Get("resourceClaims")
	c.push("claims")
	seen := map[string]bool{}
	for i, claim := range claims.Items() {
		name := claim.Get("name").Text()
		c.pushItem(i)
		if name != "" {
			c.checkDuplicateClaim(name, claim.Get("request").Text(), seen)
		}
		switch {
		case name == "":
			c.required("")
		case c.firstIndex(ofPod, "name", name, false) < 0:
			detail := "must be one of the names in pod.spec.resourceClaims which is empty"
			if ofPod.Len() > 0 {
				detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(sortedFieldTexts(ofPod, "name"), ", ")
			}
			c.notFound(name)
			c.errs[len(c.errs)-1].Detail = detail
		}
		c.pop()
	}
	c.pop()
}

// checkDuplicateClaim rejects a claim, or a request of a claim, that the container references more than once. seen is the set
// of references of the container that have been checked; checkDuplicateClaim adds this reference to it.
func (c *checker) checkDuplicateClaim(name, request string, seen map[string]bool) {
	if seen[name] {
		c.duplicate(name)
		return
	}
	key := name
	if request != "" {
		c.invalidAll(request, formats["dns-label"].check(request), "request")
		key += "/" + request
	}
	if seen[key] {
		c.duplicate(key)
	} else if request == "" {
		for other := range seen {
			if of, _, isRequest := strings.Cut(other, "/"); isRequest && of == name {
				c.duplicate(name)
			}
		}
	}
	seen[key] = true
}

// checkInitResizeRestart rejects the restart policy of a resize policy of an init container that is not a sidecar, if resizing
// restarts the container. It accepts the policy if the live object has such an init container.
func checkInitResizeRestart(c *checker, policy, _ document.Value) {
	if policy.Text() != restartContainer {
		return
	}
	_, old, _ := c.enclosing("PodSpec")
	for _, container := range old.Get("initContainers").Items() {
		if container.Get("restartPolicy").Text() == "Always" {
			continue
		}
		if c.firstIndex(container.Get("resizePolicy"), "restartPolicy", restartContainer, false) >= 0 {
			return
		}
	}
	c.invalid(restartContainer, "must not be set to 'RestartContainer' for non-sidecar initContainers")
}

// restartContainer is the restart policy of a resize policy that restarts the container.
const restartContainer = "RestartContainer"

// checkResizePolicy validates an item of a container's resizePolicy. Like kube-apiserver, it reports most errors at the list
// instead of the item.
func checkResizePolicy(c *checker, policy, _ document.Value) {
	name, restart := policy.Get("resourceName").Text(), policy.Get("restartPolicy").Text()
	if i := c.firstIndex(c.list, "resourceName", name, false); i >= 0 && i < c.item {
		c.duplicate(name)
	}
	item := c.path[len(c.path)-1]
	c.pop()
	c.checkRequiredEnum(name, "cpu", "memory")
	c.checkRequiredEnum(restart, "NotRequired", restartContainer)
	spec, _, _ := c.enclosing("PodSpec")
	if spec.Get("restartPolicy").Text() == "Never" && restart != "NotRequired" {
		c.invalid(restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
	}
	c.path = append(c.path, item)
}

func (c *checker) checkRequiredEnum(text string, allowed ...string) {
	if text == "" {
		c.required("")
	} else if !slices.Contains(allowed, text) {
		c.unsupported(text, allowed)
	}
}

// checkScopesFrozen rejects changes of a ResourceQuota's scopes. A change of their order is allowed.
func checkScopesFrozen(c *checker, value, _ document.Value) {
	set := func(v document.Value) []string {
		list := stringItems(v)
		slices.Sort(list)
		return slices.Compact(list)
	}
	if c.updating && !slices.Equal(set(value), set(c.scopes[0].old.Lookup("spec", "scopes"))) {
		c.invalid(errorValue(value), "field is immutable")
	}
}

func checkQuotaResource(c *checker, v, _ document.Value) {
	name := c.key()
	c.checkResourceName(name)
	if !strings.Contains(name, "/") && !slices.Contains(resourcesOfQuotas, name) && !isHugePagesResource(name) && !strings.HasPrefix(name, "requests.hugepages-") {
		c.invalid(name, "must be a standard resource for quota")
	}
	c.checkQuantity(name, v)
}
