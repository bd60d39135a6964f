package app

import (
	"strings"
	"testing"
)

const (
	pods            = "/api/v1/namespaces/default/pods"
	priorityClasses = "/apis/scheduling.k8s.io/v1/priorityclasses"
)

func podBody(name, spec string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{` + spec + `"containers":[{"name":"c","image":"i"}]}}`
}

const (
	notReady    = `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}`
	unreachable = `{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}`
)

// TestPodTolerations checks DefaultTolerationSeconds: pods tolerate unreachable and not-ready nodes for five minutes.
func TestPodTolerations(t *testing.T) {
	c := start(t, Config{})
	created := c.call("POST", pods, podBody("p", "")).want(201, `"tolerations":[`+notReady+`,`+unreachable+`]`)
	if strings.Contains(created.text, "f:tolerations") || strings.Contains(created.text, "f:priority") {
		t.Errorf("the added tolerations have a field manager: %s", created.text)
	}
	again := c.call("PUT", pods+"/p", podBody("p", "")).want(200, `"generation":1`)
	if again.get("metadata", "resourceVersion") != created.get("metadata", "resourceVersion") {
		t.Errorf("resourceVersion changed after a no-op update: received %s", again.text)
	}
	c.call("POST", pods, podBody("all", `"tolerations":[{"operator":"Exists"}],`)).want(201, `"tolerations":[{"operator":"Exists"}]`)
	const mine = `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists"}`
	c.call("POST", pods, podBody("one", `"tolerations":[`+mine+`],`)).want(201, `"tolerations":[`+mine+`,`+unreachable+`]`)
	c.call("POST", pods, podBody("other", `"tolerations":[{"effect":"NoSchedule","operator":"Exists"}],`)).want(201, notReady, unreachable)
}

// TestPodPriority checks that the Priority plugin sets the priority of a pod from its PriorityClass.
func TestPodPriority(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", pods, podBody("plain", "")).want(201, `"priority":0`, `"preemptionPolicy":"PreemptLowerPriority"`)
	c.call("POST", pods, podBody("node", `"priorityClassName":"system-node-critical",`)).want(201, `"priority":2000001000`)
	c.call("POST", pods, podBody("cluster", `"priorityClassName":"system-cluster-critical",`)).want(201, `"priority":2000000000`)
	c.call("POST", pods, podBody("x", `"priorityClassName":"nope",`)).want(403, `pods \"x\" is forbidden: no PriorityClass with name nope was found`)
	c.call("POST", pods, podBody("x", `"priority":5,`)).want(403, `the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0`)
	c.call("POST", pods, podBody("x", `"preemptionPolicy":"Never",`)).want(403, `the string value of PreemptionPolicy (Never) must not be provided`)

	c.call("POST", priorityClasses, `{"metadata":{"name":"low"},"value":10,"preemptionPolicy":"Never"}`).want(201)
	c.call("POST", priorityClasses, `{"metadata":{"name":"usual"},"value":7,"globalDefault":true}`).want(201)
	c.call("POST", priorityClasses, `{"metadata":{"name":"other"},"value":8,"globalDefault":true}`).
		want(403, `PriorityClass usual is already marked as default. Only one default can exist`)
	c.call("PATCH", priorityClasses+"/usual", `{"description":"d"}`, "Content-Type: "+mergeType).want(200)
	c.call("POST", pods, podBody("low", `"priorityClassName":"low",`)).want(201, `"priority":10`, `"preemptionPolicy":"Never"`)
	c.call("POST", pods, podBody("usual", "")).want(201, `"priority":7`, `"priorityClassName":"usual"`)
	// The priority of an existing pod does not change when the default PriorityClass changes.
	c.call("PUT", pods+"/plain", podBody("plain", "")).want(200, `"priority":0`)
	for _, class := range []string{"system-node-critical", "system-cluster-critical"} {
		c.call("DELETE", priorityClasses+"/"+class, "").want(403, "this is a system priority class and cannot be deleted")
	}
	c.call("DELETE", priorityClasses+"/usual", "").want(200)
}

// TestDifferenceVolumesAreNotProtected checks that PersistentVolumes and PersistentVolumeClaims get no protection
// finalizers, because the server runs no controller that would remove them.
func TestDifferenceVolumesAreNotProtected(t *testing.T) {
	c := start(t, Config{})
	const claims, volumes = "/api/v1/namespaces/default/persistentvolumeclaims", "/api/v1/persistentvolumes"
	claim := c.call("POST", claims, `{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`).want(201)
	volume := c.call("POST", volumes, `{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`).want(201)
	if claim.get("metadata", "finalizers") != "" || volume.get("metadata", "finalizers") != "" {
		t.Errorf("received claim %s and volume %s, want no finalizers", claim.text, volume.text)
	}
	c.call("DELETE", claims+"/c", "").want(200)
	c.call("DELETE", volumes+"/v", "").want(200)
	c.call("GET", claims+"/c", "").want(404)
	c.call("GET", volumes+"/v", "").want(404)
}
