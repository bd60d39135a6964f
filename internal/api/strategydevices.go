package api

import (
	"github.com/cadastre/cadastre/document"
)

// prepareResourceClaimStatus removes items of status.devices whose devices the update deallocates, so a client that deallocates
// a device need not remove the device's status itself.
func prepareResourceClaimStatus(obj, live document.Value, _ Write) document.Value {
	devices := obj.Lookup("status", "devices")
	if devices.Len() == 0 {
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
	return put(obj, listOrAbsent(kept), "status", "devices")
}

// allocatedDevices returns the set of IDs of the devices that are allocated to a ResourceClaim.
func allocatedDevices(claim document.Value) map[[4]string]bool {
	ids := map[[4]string]bool{}
	for _, result := range claim.Lookup("status", "allocation", "devices", "results").Items() {
		ids[deviceID(result)] = true
	}
	return ids
}

// deviceID returns the driver, pool, device and shareID of a device's status or of an allocation result, which together
// identify a device or a share of a device.
func deviceID(v document.Value) (id [4]string) {
	for i, name := range []string{"driver", "pool", "device", "shareID"} {
		id[i] = v.Get(name).Text()
	}
	return id
}
