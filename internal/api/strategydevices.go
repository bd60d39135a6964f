package api

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// prepareDeviceTaintRule sets timeAdded of a DeviceTaintRule's taint to the time of the update if the update changes the
// taint's effect but not timeAdded, so that tolerations are measured from the change of the effect.
func prepareDeviceTaintRule(obj, live document.Value, w Write) document.Value {
	taint, old := obj.Lookup("spec", "taint"), live.Lookup("spec", "taint")
	if taint.Get("effect").Text() == old.Get("effect").Text() || !equalTimes(taint.Get("timeAdded"), old.Get("timeAdded")) {
		return obj
	}
	return put(obj, timestamp(w.Time), "spec", "taint", "timeAdded")
}

// equalTimes reports whether two timestamps denote the same second; absent, null and empty timestamps are equal.
func equalTimes(a, b document.Value) bool {
	at, aErr := time.Parse(time.RFC3339, a.Text())
	bt, bErr := time.Parse(time.RFC3339, b.Text())
	if aErr != nil || bErr != nil {
		return aErr != nil && bErr != nil
	}
	return at.Equal(bt)
}

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
