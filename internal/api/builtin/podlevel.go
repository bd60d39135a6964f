package builtin

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/podresources"
)

// checkSufficientResources rejects pod-level requests and huge page limits that are less than the total of the containers,
// and container limits that exceed the pod-level limits.
func (c *checker) checkSufficientResources(whole document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	for _, list := range []string{"requests", "limits"} {
		for _, n := range podresources.ContainerNeeds(spec, list) {
			declared := whole.Lookup(list, n.Name)
			if isEmpty(declared) || list == "limits" && !podresources.IsHugePages(n.Name) {
				continue
			}
			if q := quantityValue(declared); n.Quantity.Cmp(q) > 0 {
				c.push(list)
				c.pushKey(n.Name)
				c.invalid(q.String(), fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", list, n.Quantity.String()))
				c.pop()
				c.pop()
			}
		}
	}
	c.push("containers")
	for i, container := range spec.Get("containers").Items() {
		for name, limit := range container.Lookup("resources", "limits").Fields() {
			declared := whole.Lookup("limits", name)
			if isEmpty(declared) {
				continue
			}
			if q, most := quantityValue(limit), quantityValue(declared); q.Cmp(most) > 0 {
				c.pushItem(i)
				c.pushKey(name)
				c.invalid(q.String(), "must be less than or equal to pod limits of "+most.String(), "limits")
				c.pop()
				c.pop()
			}
		}
	}
	c.pop()
}
