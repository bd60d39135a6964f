package app

import (
	"net/http"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
)

// TestFeatureMetrics checks the metrics of feature gates, of applies with unset markers, and of the server's own requests.
func TestFeatureMetrics(t *testing.T) {
	c := start(t, Config{})
	path := "/api/v1/namespaces/default/configmaps/a"
	c.apply(path, "m", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: {k8s_io__value: unset}}}`).want(201)
	c.apply(path, "m", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {"\x61": {"k8s_io_\x5fvalue": unset}}}`).want(200)
	c.apply(path, "m", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: "\\ k8s_io__value"}}`).want(200)
	c.call("GET", "/metrics", "").want(200,
		`kubernetes_feature_enabled{name="ServerSideApplyUnsettingFields",stage="BETA"} 1`,
		`kubernetes_feature_enabled{name="ManagedFieldsOptOut",stage="BETA"} 0`,
		`cadastre_unset_applies_total{group="",resource="configmaps",subresource="",version="v1"} 2`,
	)

	self := *c
	self.http = &http.Client{Transport: c.server.Transport(&user.DefaultInfo{Name: user.APIServerUser, Groups: []string{user.SystemPrivilegedGroup}})}
	self.call("GET", path, "").want(200)
	c.call("GET", "/metrics", "").want(200, `apiserver_selfrequest_total{group="",resource="configmaps",subresource="",verb="GET"} 1`)
}
