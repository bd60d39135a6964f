package client

import (
	"net/url"
	"testing"
)

func TestIsWatch(t *testing.T) {
	for address, want := range map[string]bool{
		"/api/v1/pods?watch=true": true, "/api/v1/pods?watch=1": true, "/api/v1/pods?watch=True": true, "/api/v1/pods?watch=t": true,
		"/api/v1/pods?watch": true, "/api/v1/pods?watch=": true, "/api/v1/pods?watch=false": false, "/api/v1/pods?watch=FALSE": false,
		"/api/v1/pods?watch=0": false, "/api/v1/pods": false, "/api/v1/watch/pods": true, "/prefix/apis/apps/v1/watch/namespaces/default/deployments": true,
		"/api/v1/namespaces/watch/pods": false, "/apis/example.org/v1/watch": false,
	} {
		parsed, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := isWatch(parsed); got != want {
			t.Errorf("isWatch(%s) = %t, want %t", address, got, want)
		}
	}
}

func TestIsProxied(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/v1/namespaces/default/services/http:web:80/proxy/api": true, "/api/v1/namespaces/default/pods/web/proxy": true,
		"/prefix/api/v1/nodes/n/proxy/metrics": true, "/api/v1/namespaces/default/pods/proxy": false,
		"/api/v1/namespaces/default/configmaps/web/proxy": false, "/apis/example.org/v1/nodes/n/proxy": false,
	} {
		if got := isProxied(path); got != want {
			t.Errorf("isProxied(%s) = %t, want %t", path, got, want)
		}
	}
}
