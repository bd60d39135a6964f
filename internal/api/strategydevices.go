package api

import (
	"github.com/cadastre/cadastre/document"
)

// prepareResourceSlice removes the fields of devices whose feature gates are off by default, as kube-apiserver does:
// list-valued attributes and mappings to node resources.
func prepareResourceSlice(_ string, obj, _ document.Value, _ Write) document.Value {
	return putItems(obj, func(device document.Value) document.Value {
		device = removeField("nodeAllocatableResourceMappings")(device)
		attributes := device.Get("attributes")
		kept := attributes
		for name, attribute := range attributes.Fields() {
			rest := attribute
			for _, list := range []string{"bools", "ints", "strings", "versions"} {
				rest = removeField(list)(rest)
			}
			if !document.Same(rest, attribute) {
				kept = kept.With(name, rest)
			}
		}
		if document.Same(kept, attributes) {
			return device
		}
		return device.With("attributes", kept)
	}, "spec", "devices")
}

// prepareResourceClaimForUpdate removes the statuses of devices that are no longer allocated, so that clients can
// deallocate devices without clearing their statuses.
func prepareResourceClaimForUpdate(endpoint string, obj, live document.Value, _ Write) document.Value {
	devices := obj.Lookup("status", "devices")
	if endpoint != StatusSubresource || devices.Len() == 0 {
		return obj
	}
	freed := allocatedDevices(live)
	for id := range allocatedDevices(obj) {
		delete(freed, id)
	}
	var kept []document.Value
	for _, device := range devices.Items() {
		if !freed[deviceID(device)] {
			kept = append(kept, device)
		}
	}
	if len(kept) == devices.Len() {
		return obj
	}
	return put(obj, list(kept), "status", "devices")
}

// allocatedDevices returns the IDs of the devices that are allocated to a claim.
func allocatedDevices(claim document.Value) map[[4]string]bool {
	ids := map[[4]string]bool{}
	for _, result := range claim.Lookup("status", "allocation", "devices", "results").Items() {
		ids[deviceID(result)] = true
	}
	return ids
}

// deviceID returns the identity of a device or of a share of it.
func deviceID(v document.Value) (id [4]string) {
	for i, name := range []string{"driver", "pool", "device", "shareID"} {
		id[i] = v.Get(name).Text()
	}
	return id
}
