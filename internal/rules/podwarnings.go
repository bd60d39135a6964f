package rules

import (
	"fmt"
	"slices"
	"strconv"
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
			ports = append(ports, placedPort{p, c.where[last-2].name, c.where[last-1].index, i})
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

// placedPort is a port of a container, and where it is.
type placedPort struct {
	port             document.Value
	list             string
	container, index int
}

func (c *checker) portPlace(p placedPort) string {
	return c.place("spec", p.list) + "[" + strconv.Itoa(p.container) + "].ports[" + strconv.Itoa(p.index) + "]"
}

// portKey is what ports must not have in common.
type portKey struct {
	number   int64
	protocol string
}

func (p placedPort) key() portKey {
	return portKey{number(p.port.Get("containerPort")), p.port.Get("protocol").Text()}
}

// portWarnings warns of ports that are there twice, by their numbers or by their names.
func (c *checker) portWarnings(ports []placedPort) {
	var byKey map[portKey][]int
	if len(ports) > fewItems {
		byKey = make(map[portKey][]int, len(ports))
	}
	for i, p := range ports {
		if c.hasSaidEnough() {
			return
		}
		c.hostIPWithoutPort(p)
		if byKey == nil {
			for j, other := range ports[:i] {
				if other.key() == p.key() {
					c.samePorts(p, ports[j])
				}
			}
			continue
		}
		for _, j := range byKey[p.key()] {
			if c.hasSaidEnough() {
				return
			}
			c.samePorts(p, ports[j])
		}
		byKey[p.key()] = append(byKey[p.key()], i)
	}
	c.samePortNames(ports)
}

func (c *checker) hostIPWithoutPort(p placedPort) {
	address := p.port.Get("hostIP").Text()
	if address == "" || number(p.port.Get("hostPort")) != 0 {
		return
	}
	shown := struct {
		Name                    string
		HostPort, ContainerPort int64
		Protocol, HostIP        string
	}{p.port.Get("name").Text(), 0, p.key().number, p.key().protocol, address}
	c.say(fmt.Sprintf("%s: hostIP set without hostPort: %+v", c.portPlace(p), shown))
}

// samePorts says how two ports with the same number differ.
func (c *checker) samePorts(p, other placedPort) {
	ip, otherIP := p.port.Get("hostIP").Text(), other.port.Get("hostIP").Text()
	port, otherPort := number(p.port.Get("hostPort")), number(other.port.Get("hostPort"))
	word := ""
	switch {
	case ip == otherIP && port == otherPort:
		word = "duplicate"
	case port == 0 || otherPort == 0:
		word = "overlapping"
	case port == otherPort && (ip == "") != (otherIP == ""):
		word = "dangerously ambiguous"
	default:
		return
	}
	c.say(c.portPlace(p) + ": " + word + " port definition with " + c.portPlace(other))
}

func (c *checker) samePortNames(ports []placedPort) {
	var first map[string]int
	if len(ports) > fewItems {
		first = make(map[string]int, len(ports))
	}
	for i, p := range ports {
		name := p.port.Get("name").Text()
		if name == "" {
			continue
		}
		if c.hasSaidEnough() {
			return
		}
		j, found := first[name]
		if first == nil {
			j = slices.IndexFunc(ports[:i], func(other placedPort) bool { return other.port.Get("name").Text() == name })
			found = j >= 0
		} else if !found {
			first[name] = i
		}
		if found {
			other := c.portPlace(ports[j])
			c.say(fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", c.portPlace(p), name, other, other))
		}
	}
}

// Limits beyond which the indexes of a job may be more than its status can hold.
const (
	manyIndexed       = 100_000
	manyIndexedAtOnce = 10_000
)

func manyIndexes(c *checker, spec, _ document.Value) {
	if number(spec.Get("completions")) > manyIndexed && number(spec.Get("parallelism")) > manyIndexedAtOnce {
		c.warn("In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
}

// zoneInSchedule warns of a zone that is not where it belongs. kube-apiserver has the place wrong.
func zoneInSchedule(c *checker, schedule, _ document.Value) {
	if strings.Contains(schedule.Text(), "TZ") {
		c.say("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}
