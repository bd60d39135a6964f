package encoding

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// phase returns the status.phase of an object; Terminating if it has a deletionTimestamp.
func phase(r *row) string {
	if r.deleted() {
		return "Terminating"
	}
	return text(r.get("status", "phase"))
}

// accessModes lists the access modes of volumes with their abbreviations, in the order in which a cell shows them.
var accessModes = [...]struct{ mode, short string }{
	{"ReadWriteOnce", "RWO"},
	{"ReadOnlyMany", "ROX"},
	{"ReadWriteMany", "RWX"},
	{"ReadWriteOncePod", "RWOP"},
}

func modesText(list document.Value) string {
	var shown []string
	for _, known := range accessModes {
		for _, mode := range itemsOf(list) {
			if text(mode) == known.mode {
				shown = append(shown, known.short)
				break
			}
		}
	}
	return strings.Join(shown, ",")
}

func volumeModes(r *row) string { return modesText(r.get("spec", "accessModes")) }

// isBound reports whether a PersistentVolumeClaim has a volume. Without one, its status is not meaningful.
func isBound(r *row) bool { return text(r.get("spec", "volumeName")) != "" }

func claimModes(r *row) string {
	if !isBound(r) {
		return ""
	}
	return modesText(r.get("status", "accessModes"))
}

func claimCapacity(r *row) string {
	if !isBound(r) {
		return ""
	}
	return quantity(r.get("status", "capacity", "storage"))
}

// storageClass returns the storage class of a volume or claim. The legacy annotation takes precedence over
// spec.storageClassName.
func storageClass(r *row) string {
	if class := r.get("metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); isPresent(class) {
		return text(class)
	}
	return text(r.get("spec", "storageClassName"))
}

func storageClassName(r *row) string {
	return nameWithDefault(r, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
}

func storageCapacity(r *row) string {
	if capacity := r.get("capacity"); isPresent(capacity) {
		return quantity(capacity)
	}
	return unset
}

// claimState returns the state of a ResourceClaim: pending, or a list of deleted, allocated and reserved.
func claimState(r *row) string {
	var states []string
	if r.deleted() {
		states = append(states, "deleted")
	}
	switch {
	case r.get("status", "allocation").Kind() == document.Map:
		states = append(states, "allocated")
		if itemCount(r.get("status", "reservedFor")) > 0 {
			states = append(states, "reserved")
		}
	case !r.deleted():
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

// taintAdded returns the time since a DeviceTaintRule's taint was added or its effect was changed; "" if it is unknown.
func taintAdded(r *row) string {
	added := r.get("spec", "taint", "timeAdded")
	if added.Kind() != document.String {
		return ""
	}
	return r.since(added)
}

// migratedResource returns the resource that a StorageVersionMigration migrates, as RESOURCE.GROUP.
func migratedResource(r *row) string {
	resource := r.get("spec", "resource")
	name, group := text(resource.Get("resource")), text(resource.Get("group"))
	if group == "" {
		return name
	}
	return name + "." + group
}

// migrationStatus returns the type of a StorageVersionMigration's last condition that has a known type and is true.
func migrationStatus(r *row) string {
	status := "Unknown"
	for _, condition := range itemsOf(r.get("status", "conditions")) {
		if text(condition.Get("status")) != "True" {
			continue
		}
		switch name := text(condition.Get("type")); name {
		case "Running", "Failed", "Succeeded":
			status = name
		}
	}
	return status
}
