package app

import "testing"

// TestDeviceStatusPermissions checks that the permission to update the status of a ResourceClaim does not include the
// permission to change its allocation or the status of its devices.
func TestDeviceStatusPermissions(t *testing.T) {
	c := start(t, Config{}, `token-a,alice,1,"drivers"`)
	alice := c.withToken("token-a")
	role := func(more string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"rules":[` +
			`{"apiGroups":["resource.k8s.io"],"resources":["resourceclaims/status"],"verbs":["patch"]}` + more + `]}`
	}
	const (
		roles   = "/apis/rbac.authorization.k8s.io/v1/"
		claims  = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
		binding = `,{"apiGroups":["resource.k8s.io"],"resources":["resourceclaims/binding"],"verbs":["patch"]}`
		driver  = `,{"apiGroups":["resource.k8s.io"],"resources":["resourceclaims/driver"],"verbs":["arbitrary-node:patch"],"resourceNames":["gpu.example.com"]}`
		result  = `{"status":{"allocation":{"devices":{"results":[{"request":"one","driver":"gpu.example.com","pool":"p","device":"a"},{"request":"one","driver":"nic.example.com","pool":"p","device":"a"}]}}}}`
		report  = `{"status":{"devices":[{"driver":"gpu.example.com","pool":"p","device":"a"}]}}`
		other   = `{"status":{"devices":[{"driver":"gpu.example.com","pool":"p","device":"a"},{"driver":"nic.example.com","pool":"p","device":"a"}]}}`
	)
	c.call("POST", roles+"clusterroles", role("")).want(201)
	c.call("POST", roles+"clusterrolebindings", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"b"},`+
		`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},"subjects":[{"kind":"Group","name":"drivers"}]}`).want(201)
	c.call("POST", claims, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"one","exactly":{"deviceClassName":"gpus"}}]}}}`).want(201)

	patch := func(body string) *testResponse {
		return alice.call("PATCH", claims+"/x/status", body, "Content-Type: "+mergeType)
	}
	patch(result).want(422, `changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"patch\" permission`)
	c.call("PUT", roles+"clusterroles/r", role(binding)).want(200)
	patch(result).want(200)
	patch(report).want(422, `changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[arbitrary-node:patch]\" permission`)
	c.call("PUT", roles+"clusterroles/r", role(driver)).want(200)
	patch(report).want(200)
	patch(other).want(422, "resourceclaims/driver", "nic.example.com")
}
