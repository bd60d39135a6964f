package wire

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/test/clients/target"
)

const oldEndpoints = `299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"`

// TestDeprecatedKinds checks that every response to a request for a deprecated API includes a warning, for every verb.
func TestDeprecatedKinds(t *testing.T) {
	s := connect(t)
	place := "/api/v1/namespaces/" + target.Namespace(t)
	for _, test := range []struct {
		method, path, body string
		code               int
		warnings           []string
	}{
		{"GET", "/api/v1/endpoints", "", 200, []string{oldEndpoints}},
		{"GET", place + "/endpoints", "", 200, []string{oldEndpoints}},
		{"GET", place + "/endpoints?watch=1&timeoutSeconds=1", "", 200, []string{oldEndpoints}},
		{"GET", place + "/endpoints/none", "", 404, []string{oldEndpoints}},
		{"DELETE", place + "/endpoints/none", "", 404, []string{oldEndpoints}},
		{"POST", place + "/endpoints", `{"metadata":{"name":"e"}}`, 201, []string{oldEndpoints}},
		{"PUT", place + "/endpoints/e", `{"metadata":{"name":"e"}}`, 200, []string{oldEndpoints}},
		{"PATCH application/apply-patch+yaml", place + "/endpoints/e?fieldManager=m", `{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"e"}}`, 200, []string{oldEndpoints}},
		{"DELETE", place + "/endpoints/e", "", 200, []string{oldEndpoints}},
		{"GET", "/apis/discovery.k8s.io/v1/endpointslices", "", 200, nil},
		{"GET", place + "/services", "", 200, nil},
	} {
		a := s.must(t, test.code, test.method, test.path, test.body)
		if got := a.header.Values("Warning"); !slices.Equal(got, test.warnings) {
			t.Errorf("%s %s: got warnings %q, want %q", test.method, test.path, got, test.warnings)
		}
	}
}
