package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// containerLists are the fields of a pod spec that hold containers.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

// forEachContainer calls visit with each container of spec, in the order of kube-apiserver's errors. During the call, the
// current path is the path of the container.
func (c *checker) forEachContainer(spec document.Value, visit func(container document.Value)) {
	for _, name := range containerLists {
		c.push(name)
		for i, container := range spec.Get(name).Items() {
			c.pushItem(i)
			visit(container)
			c.pop()
		}
		c.pop()
	}
}

// checkHostPorts rejects host ports that several containers use.
func checkHostPorts(c *checker, containers, _ document.Value) {
	var seen map[string]bool
	for i, container := range containers.Items() {
		c.pushItem(i)
		seen = c.checkDuplicateHostPorts(container, seen)
		c.pop()
	}
}

// checkOwnHostPorts rejects host ports that one container uses twice. Like kube-apiserver, it reports the errors at index 0 of
// the list, regardless of the container's index.
func checkOwnHostPorts(c *checker, container, _ document.Value) {
	last := len(c.path) - 1
	item := c.path[last].index
	c.path[last].index = 0
	c.checkDuplicateHostPorts(container, nil)
	c.path[last].index = item
}

func (c *checker) checkDuplicateHostPorts(container document.Value, seen map[string]bool) map[string]bool {
	for i, p := range container.Get("ports").Items() {
		n := intValue(p.Get("hostPort"))
		if n == 0 {
			continue
		}
		key := fmt.Sprintf("%s/%s/%d", p.Get("protocol").Text(), p.Get("hostIP").Text(), n)
		if seen[key] {
			c.push("ports")
			c.pushItem(i)
			c.duplicate(key, "hostPort")
			c.pop()
			c.pop()
			continue
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		seen[key] = true
	}
	return seen
}

// checkHostNetworkPorts requires that hostPort equals containerPort in pods that use the host network. In a pod template, an
// absent hostPort is accepted, because it is defaulted when the pod is created.
func checkHostNetworkPorts(c *checker, containers, _ document.Value) {
	_, _, isPod := c.enclosing("core.v1.Pod")
	for i, container := range containers.Items() {
		for j, p := range container.Get("ports").Items() {
			host, own := intValue(p.Get("hostPort")), intValue(p.Get("containerPort"))
			if host == own || host == 0 && !isPod {
				continue
			}
			c.pushItem(i)
			c.push("ports")
			c.pushItem(j)
			c.invalid(host, "must match `containerPort` when `hostNetwork` is true", "hostPort")
			c.path = c.path[:len(c.path)-3]
		}
	}
}

func checkDNSConfig(c *checker, spec, _ document.Value) {
	config := spec.Get("dnsConfig")
	servers := config.Get("nameservers")
	if spec.Get("dnsPolicy").Text() == "None" {
		if isAbsentOrNull(config) {
			c.required("must provide `dnsConfig` when `dnsPolicy` is None", "dnsConfig")
			return
		}
		if servers.Len() == 0 {
			c.required("must provide at least one DNS nameserver when `dnsPolicy` is None", "dnsConfig", "nameservers")
			return
		}
	}
	if isAbsentOrNull(config) {
		return
	}
	c.push("dnsConfig")
	defer c.pop()
	if servers.Len() > 3 {
		c.invalid(errorValue(servers), "must not have more than 3 nameservers", "nameservers")
	}
	c.forEachText("nameservers", servers, func(text string) { checkIP(c, document.NewString(text), document.Value{}) })
	searches := config.Get("searches")
	if searches.Len() > 32 {
		c.invalid(errorValue(searches), "must not have more than 32 search paths", "searches")
	}
	if len(strings.Join(stringItems(searches), " ")) > 2048 {
		c.invalid(errorValue(searches), "must not have more than 2048 characters (including spaces) in the search list", "searches")
	}
	c.forEachText("searches", searches, func(text string) {
		if text != "." {
			text = strings.TrimSuffix(text, ".")
			c.invalidAll(text, formats["dns-subdomain-underscore"].check(text))
		}
	})
	c.push("options")
	for i, option := range config.Get("options").Items() {
		if option.Get("name").Text() == "" {
			c.pushItem(i)
			c.required("must not be empty")
			c.pop()
		}
	}
	c.pop()
}

// forEachText calls visit with each item of list, a list of strings in the field name of the current value. During the call,
// the current path is the path of the item.
func (c *checker) forEachText(name string, list document.Value, visit func(text string)) {
	c.push(name)
	for i, item := range list.Items() {
		c.pushItem(i)
		visit(item.Text())
		c.pop()
	}
	c.pop()
}

func checkToleration(c *checker, t, _ document.Value) {
	key, operator, value, effect := t.Get("key").Text(), t.Get("operator").Text(), t.Get("value").Text(), t.Get("effect").Text()
	if key != "" {
		c.invalidAll(key, formats["qualified-name"].check(key), "key")
	} else if operator != "Exists" {
		c.invalid(operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"", "operator")
	}
	if !isAbsentOrNull(t.Get("tolerationSeconds")) && effect != "NoExecute" {
		c.invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set", "effect")
	}
	switch operator {
	case "Equal", "":
		if problems := formats["label-value"].check(value); len(problems) > 0 {
			c.invalid(value, strings.Join(problems, ";"), "operator")
		}
	case "Exists":
		if value != "" {
			c.invalid(value, "value must be empty when `operator` is 'Exists'", "operator")
		}
	case "Lt", "Gt":
		c.unsupported(operator, []string{"Equal", "Exists", "Lt", "Gt"}, "operator")
	default:
		c.unsupported(operator, []string{"Equal", "Exists"}, "operator")
	}
	if effects := []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}; effect != "" && !slices.Contains(effects, effect) {
		c.unsupported(effect, effects, "effect")
	}
}

func checkSpreadNotRepeated(c *checker, constraint, _ document.Value) {
	const both = "{topologyKey, whenUnsatisfiable}"
	last := c.indexes[indexKey{list: c.list, name: both}]
	if last == nil {
		last = make(map[string]int, c.list.Len())
		for i, other := range c.list.Items() {
			last[spreadKey(other)] = i
		}
		c.storeIndex(indexKey{list: c.list, name: both}, last)
	}
	if last[spreadKey(constraint)] > c.item {
		c.duplicate(spreadKey(constraint), both)
	}
}

func spreadKey(constraint document.Value) string {
	return fmt.Sprintf("{%v, %v}", constraint.Get("topologyKey").Text(), constraint.Get("whenUnsatisfiable").Text())
}

func checkSpreadMinDomains(c *checker, constraint, _ document.Value) {
	domains, action := constraint.Get("minDomains"), constraint.Get("whenUnsatisfiable").Text()
	if !isAbsentOrNull(domains) && action != "DoNotSchedule" {
		c.invalid(intValue(domains), "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action, "minDomains")
	}
}

func checkPrivilegeEscalation(c *checker, sc, _ document.Value) {
	allow := sc.Get("allowPrivilegeEscalation")
	if isAbsentOrNull(allow) || allow.Bool() {
		return
	}
	if sc.Get("privileged").Bool() {
		c.invalid(errorValue(sc), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
	}
	for _, capability := range sc.Lookup("capabilities", "add").Items() {
		if capability.Text() == "CAP_SYS_ADMIN" {
			c.invalid(errorValue(sc), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
		}
	}
}

func checkAppArmorPath(c *checker, value, _ document.Value) {
	path := value.Text()
	switch strings.TrimSpace(path) {
	case path:
		if path == "" {
			c.required("must be set when AppArmor type is Localhost")
		}
	default:
		c.invalid(path, "must not be padded with whitespace")
	}
	if len(path) > 4095 {
		c.tooLong(4095)
	}
}

// checkInitName requires that the name of an init container differs from the names of all main containers and of earlier init
// containers.
func checkInitName(c *checker, value, _ document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	name := value.Text()
	if c.firstIndex(spec.Get("containers"), "name", name, false) >= 0 {
		c.duplicate(name)
	} else if i := c.firstIndex(c.list, "name", name, false); name != "" && i >= 0 && i < c.item {
		c.duplicate(name)
	}
}

func checkEphemeralName(c *checker, value, _ document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	name := value.Text()
	i := c.firstIndex(c.list, "name", name, false)
	if c.firstIndex(spec.Get("containers"), "name", name, false) >= 0 ||
		c.firstIndex(spec.Get("initContainers"), "name", name, false) >= 0 || i >= 0 && i < c.item {
		c.duplicate(name)
	}
}

// checkEphemeralTarget requires that targetContainerName is the name of a main container or an init container of the pod.
func checkEphemeralTarget(c *checker, value, _ document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	name := value.Text()
	if name != "" && c.firstIndex(spec.Get("containers"), "name", name, false) < 0 && c.firstIndex(spec.Get("initContainers"), "name", name, false) < 0 {
		c.notFound(name)
	}
}

// checkEphemeralFields rejects the fields of a container that ephemeral containers do not support.
func checkEphemeralFields(c *checker, container, _ document.Value) {
	for _, name := range []string{
		"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
	} {
		if v := container.Get(name); !isEmpty(v) && (name != "resources" || v.Len() > 0) {
			c.forbidden("cannot be set for an Ephemeral Container", name)
		}
	}
}
