package encoding

import (
	"slices"
	"strings"
)

// nodeStatus returns the status of a node: Ready, NotReady or Unknown, by its last Ready condition, and SchedulingDisabled if
// it is unschedulable.
func nodeStatus(r *row) string {
	status := "Unknown"
	if ready := lastWith(r.get("status", "conditions"), "type", "Ready"); isPresent(ready) {
		status = "NotReady"
		if text(ready.Get("status")) == "True" {
			status = "Ready"
		}
	}
	if r.get("spec", "unschedulable").Bool() {
		status += ",SchedulingDisabled"
	}
	return status
}

// nodeRoles returns the distinct roles in the labels of a node, sorted.
func nodeRoles(r *row) string {
	var roles []string
	for name, value := range r.get("metadata", "labels").Fields() {
		role, ok := strings.CutPrefix(name, "node-role.kubernetes.io/")
		if !ok && name == "kubernetes.io/role" {
			role, ok = text(value), true
		}
		if ok && role != "" {
			roles = append(roles, role)
		}
	}
	if len(roles) == 0 {
		return none
	}
	slices.Sort(roles)
	return strings.Join(slices.Compact(roles), ",")
}

// nodeAddress returns the cell that shows the first address of a node whose type is typ, such as InternalIP.
func nodeAddress(typ string) cell {
	return textFunction(func(r *row) string {
		address := itemWith(r.get("status", "addresses"), "type", typ)
		if !isPresent(address) {
			return none
		}
		return text(address.Get("address"))
	})
}

func nodeKernel(r *row) string {
	kernel := nonemptyText(r.get("status", "nodeInfo", "kernelVersion"), unknown)
	if machine := text(r.get("status", "nodeInfo", "architecture")); machine != "" {
		kernel += " (" + machine + ")"
	}
	return kernel
}
