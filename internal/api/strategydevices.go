package kinds

import (
	"github.com/cadastre/cadastre/document"
)

// prepareSlice drops what kube-apiserver drops of devices, since it is a feature that is off unless somebody turns it
// on: attributes that are lists, and mappings to the resources of nodes. No slice has them.
func prepareSlice(_ string, obj, _ document.Value, _ Write) document.Value {
	return putItems(obj, func(device document.Value) document.Value {
		device = without("nodeAllocatableResourceMappings")(device)
		attributes := device.Get("attributes")
		kept := attributes
		for name, attribute := range attributes.Fields() {
			rest := attribute
			for _, list := range []string{"bools", "ints", "strings", "versions"} {
				rest = without(list)(rest)
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

// prepareDeviceClaim drops the statuses of devices that are no longer allocated, so that who frees them need not know of
// statuses.
func prepareDeviceClaim(endpoint string, obj, live document.Value, _ Write) document.Value {
	devices := obj.Lookup("status", "devices")
	if endpoint != "status" || devices.Len() == 0 {
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

// allocatedDevices returns what a claim has.
func allocatedDevices(claim document.Value) map[[4]string]bool {
	ids := map[[4]string]bool{}
	for _, result := range claim.Lookup("status", "allocation", "devices", "results").Items() {
		ids[deviceID(result)] = true
	}
	return ids
}

// deviceID tells a device from others, and a share of it from other shares.
func deviceID(v document.Value) (id [4]string) {
	for i, name := range []string{"driver", "pool", "device", "shareID"} {
		id[i] = v.Get(name).Text()
	}
	return id
}
