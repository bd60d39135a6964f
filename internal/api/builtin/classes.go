package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// systemPriority is the prefix of PriorityClass names that are reserved for the system.
const systemPriority = "system-"

// maxUserPriority is the maximum value of a PriorityClass without the prefix systemPriority.
const maxUserPriority = 1_000_000_000

// systemPriorities maps the names of the system's PriorityClasses to their required values.
var systemPriorities = map[string]int64{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

func checkPriorityValue(c *checker, class, _ document.Value) {
	name, value := class.Lookup("metadata", "name").Text(), intValue(class.Get("value"))
	if !strings.HasPrefix(name, systemPriority) {
		if value > maxUserPriority {
			c.forbidden(fmt.Sprintf("maximum allowed value of a user defined priority is %v", maxUserPriority), "value")
		}
		return
	}
	want, ok := systemPriorities[name]
	problem := ""
	switch {
	case !ok:
		problem = name + " is not a known system priority class"
	case value != want:
		problem = fmt.Sprintf("value of %v PriorityClass must be %v", name, want)
	case class.Get("globalDefault").Bool():
		problem = fmt.Sprintf("globalDefault of %v PriorityClass must be false", name)
	}
	if problem != "" {
		c.forbidden("priority class names with 'system-' prefix are reserved for system use only. error: "+problem, "metadata", "name")
	}
}

// checkOverhead validates overhead.podFixed of a RuntimeClass with the rules for the resource limits of a container.
func checkOverhead(c *checker, o, _ document.Value) {
	fixed := o.Get("podFixed")
	if !isAbsentOrNull(fixed) {
		c.checkRequirements(document.NewMap(document.Field{Name: "limits", Value: fixed}), c.checkContainerResourceName)
	}
}

// checkUniqueTolerations rejects a toleration that differs from an earlier toleration only in tolerationSeconds.
func checkUniqueTolerations(c *checker, tolerations, _ document.Value) {
	seen := map[[4]string]bool{}
	for i, t := range tolerations.Items() {
		key := [4]string{t.Get("key").Text(), t.Get("operator").Text(), t.Get("value").Text(), t.Get("effect").Text()}
		if seen[key] {
			c.pushItem(i)
			c.duplicate(errorValue(t))
			c.pop()
		}
		seen[key] = true
	}
}

// leaseStrategies are the strategies of coordinated leader election that Kubernetes defines. Other strategies need a
// domain-qualified name.
var leaseStrategies = []string{"OldestEmulationVersion"}

func checkLeaseStrategy(c *checker, value, _ document.Value) {
	text := value.Text()
	if strings.Contains(text, "/") {
		c.invalidAll(text, formats["qualified-name"].check(text))
	} else if !slices.Contains(leaseStrategies, text) {
		c.unsupported(text, leaseStrategies)
	}
}
