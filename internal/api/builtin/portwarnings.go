package builtin

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// portAt is a port of a container with its position: the list of containers in the pod spec, the index of the container
// in the list, and the index of the port in the container.
type portAt struct {
	port             document.Value
	number           int64
	list             string
	container, index int
}

func (c *checker) portPath(p portAt) string {
	return c.fieldPath("spec", p.list) + "[" + strconv.Itoa(p.container) + "].ports[" + strconv.Itoa(p.index) + "]"
}

// portKey identifies a port within a pod.
type portKey struct {
	number   int64
	protocol string
}

func (p portAt) key() portKey {
	return portKey{p.number, p.port.Get("protocol").Text()}
}

// warnPorts adds a warning for each pair of ports with the same number and protocol, or with the same name, and for each
// hostIP without a hostPort.
func (c *checker) warnPorts(ports []portAt) {
	var byKey map[portKey][]int
	if len(ports) > maxLinearSearch {
		byKey = make(map[portKey][]int, len(ports))
	}
	for i, p := range ports {
		if c.hasMaxWarnings() {
			return
		}
		c.warnHostIPWithoutPort(p)
		if byKey == nil {
			for j, other := range ports[:i] {
				if other.number == p.number && other.key() == p.key() {
					c.warnSamePorts(p, ports[j])
				}
			}
			continue
		}
		for _, j := range byKey[p.key()] {
			if c.hasMaxWarnings() {
				return
			}
			c.warnSamePorts(p, ports[j])
		}
		byKey[p.key()] = append(byKey[p.key()], i)
	}
	c.warnSamePortNames(ports)
}

func (c *checker) warnHostIPWithoutPort(p portAt) {
	address := p.port.Get("hostIP").Text()
	if address == "" || intValue(p.port.Get("hostPort")) != 0 {
		return
	}
	shown := struct {
		Name                    string
		HostPort, ContainerPort int64
		Protocol, HostIP        string
	}{p.port.Get("name").Text(), 0, p.number, p.key().protocol, address}
	c.addWarning(fmt.Sprintf("%s: hostIP set without hostPort: %+v", c.portPath(p), shown))
}

// warnSamePorts adds a warning about p and other, which have the same number and protocol, unless their hostPort and hostIP
// rule out a conflict. The text of the warning depends on hostPort and hostIP.
func (c *checker) warnSamePorts(p, other portAt) {
	ip, otherIP := p.port.Get("hostIP").Text(), other.port.Get("hostIP").Text()
	port, otherPort := intValue(p.port.Get("hostPort")), intValue(other.port.Get("hostPort"))
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
	c.addWarning(c.portPath(p) + ": " + word + " port definition with " + c.portPath(other))
}

func (c *checker) warnSamePortNames(ports []portAt) {
	var first map[string]int
	if len(ports) > maxLinearSearch {
		first = make(map[string]int, len(ports))
	}
	for i, p := range ports {
		name := p.port.Get("name").Text()
		if name == "" {
			continue
		}
		if c.hasMaxWarnings() {
			return
		}
		j, found := first[name]
		if first == nil {
			j = slices.IndexFunc(ports[:i], func(other portAt) bool { return other.port.Get("name").Text() == name })
			found = j >= 0
		} else if !found {
			first[name] = i
		}
		if found {
			other := c.portPath(ports[j])
			c.addWarning(fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", c.portPath(p), name, other, other))
		}
	}
}
