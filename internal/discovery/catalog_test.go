package discovery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
)

// fetch sends a request without a body and returns the response with its body. headers are alternating names and values.
// Redirects are not followed.
func fetch(t *testing.T, server *httptest.Server, method, address string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequest(method, server.URL+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := server.Client().Transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

func TestPaths(t *testing.T) {
	server := sharedServer()
	for address, code := range map[string]int{
		"/version": 200, "/version/": 200, "/api": 200, "/api/": 200, "/apis": 200, "/api/v1": 200, "/api/v1/": 200,
		"/apis/apps": 200, "/apis/apps/": 200, "/apis/apps/v1": 200, "/apis/autoscaling/v1": 200,
		"/openapi/v2": 200, "/openapi/v3": 200, "/openapi/v3/api/v1": 200, "/openapi/v3/apis/apps/v1": 200,
		"/openapi/v3/apis/apps": 200, "/openapi/v3/version": 200,
		"/api/v2": 404, "/apis/apps/v2": 404, "/apis/nope": 404, "/apis/core/v1": 404, "/apis//v1": 404, "/apisx": 404, "/apix": 404,
		"/api/v1/pods": 404, "/apis/apps/v1/deployments": 404, "/openapi": 404, "/openapi/v4": 404,
		"/openapi/v3/apis/apps/v2": 404, "/openapi/v3/": 404, "/openapi/v2/": 404, "/": 404, "/versions": 404, "/openapi/v2/x": 404,
	} {
		response, body := fetch(t, server, "GET", address)
		if response.StatusCode != code {
			t.Errorf("GET %s: got status %s, want %d; body %.100s", address, response.Status, code, body)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	server := sharedServer()
	const aggregated = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	const beta = ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	for _, test := range []struct{ address, accept, mediaType string }{
		{"/apis", "", mediaJSON},
		{"/apis", "*/*", mediaJSON},
		{"/apis", "application/yaml", encoding.YAML.MediaType},
		{"/apis", "application/json" + aggregated, mediaJSON + aggregated},
		{"/api", "application/json" + beta + ",application/json", mediaJSON + beta},
		{"/api", "application/json,application/json" + aggregated, mediaJSON + aggregated},
		{"/api", "application/vnd.kubernetes.protobuf" + aggregated, encoding.Protobuf.MediaType + aggregated},
		{"/api", "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json", mediaJSON},
		{"/api/v1", "application/vnd.kubernetes.protobuf,application/json", encoding.Protobuf.MediaType},
		{"/api/v1", "application/cbor,application/json", encoding.CBOR.MediaType},
		{"/apis", "application/cbor" + aggregated + ",application/json", encoding.CBOR.MediaType + aggregated},
		{"/apis/apps", "application/json;drop=metadata.managedFields", mediaJSON},
		{"/version", "application/cbor", mediaJSON},
		{"/api/v1", "application/json" + aggregated + ",application/yaml", encoding.YAML.MediaType},
		{"/api/v1", "text/html", ""},
		{"/openapi/v2", "", mediaJSON},
		{"/openapi/v2", mediaOpenAPI2Old, mediaOpenAPI2},
		{"/openapi/v2", mediaOpenAPI2, mediaOpenAPI2},
		{"/openapi/v2", mediaOpenAPI2 + ";q=0.1,application/json", mediaJSON},
		{"/openapi/v2", "text/html", ""},
		{"/openapi/v3/apis/coordination.k8s.io/v1", mediaOpenAPI3Old, mediaOpenAPI3},
		{"/openapi/v3/apis/coordination.k8s.io/v1", "text/html", ""},
	} {
		response, body := fetch(t, server, "GET", test.address, "Accept", test.accept)
		if test.mediaType == "" {
			if response.StatusCode != http.StatusNotAcceptable {
				t.Errorf("GET %s with Accept %q: got status %s, want 406", test.address, test.accept, response.Status)
			}
			continue
		}
		if got := response.Header.Get("Content-Type"); got != test.mediaType || len(body) == 0 {
			t.Errorf("GET %s with Accept %q: got status %s and Content-Type %q, want Content-Type %q", test.address, test.accept, response.Status, got, test.mediaType)
		}
		if !strings.Contains(strings.Join(response.Header.Values("Vary"), ","), "Accept") {
			t.Errorf("GET %s: got Vary headers %q, want Accept in them", test.address, response.Header.Values("Vary"))
		}
	}
}

func TestEqualInAllEncodings(t *testing.T) {
	server := sharedServer()
	var fromJSON, fromYAML, fromProto, fromCBOR metav1.APIResourceList
	if err := direct.Unmarshal(get(t, server, "/apis/apps/v1", encoding.CBOR.MediaType), &fromCBOR); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(get(t, server, "/apis/apps/v1", mediaJSON), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(get(t, server, "/apis/apps/v1", encoding.YAML.MediaType), &fromYAML); err != nil {
		t.Fatal(err)
	}
	text, ok := bytes.CutPrefix(get(t, server, "/apis/apps/v1", encoding.Protobuf.MediaType), []byte("k8s\x00"))
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(text); err != nil || !ok || envelope.Kind != "APIResourceList" || envelope.APIVersion != "v1" {
		t.Fatalf("protobuf document: got error %v, magic number %t, envelope %v, want an APIResourceList of v1", err, ok, envelope)
	}
	if err := fromProto.Unmarshal(envelope.Raw); err != nil {
		t.Fatal(err)
	}
	fromProto.TypeMeta = fromJSON.TypeMeta
	if len(fromJSON.APIResources) < 10 || hash(fromYAML) != hash(fromJSON) || hash(fromProto) != hash(fromJSON) || hash(fromCBOR) != hash(fromJSON) {
		t.Errorf("GET /apis/apps/v1: want the same resources in all encodings, got\nJSON     %+v\nYAML     %+v\nprotobuf %+v\nCBOR     %+v", fromJSON, fromYAML, fromProto, fromCBOR)
	}
}

// TestStatusInAllEncodings checks that an error Status is encoded in the media type of the Accept header.
func TestStatusInAllEncodings(t *testing.T) {
	server := sharedServer()
	for accept, want := range map[string]string{encoding.Protobuf.MediaType: encoding.Protobuf.MediaType, encoding.CBOR.MediaType: encoding.CBOR.MediaType, encoding.YAML.MediaType: encoding.YAML.MediaType, mediaJSON: mediaJSON, "text/html": mediaJSON} {
		response, body := fetch(t, server, "POST", "/api", "Accept", accept)
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusMethodNotAllowed || got != want || !bytes.Contains(body, []byte("the server does not allow this method on the requested resource")) {
			t.Errorf("POST /api with Accept %s: got status %s, Content-Type %s and body %q, want 405 in %s", accept, response.Status, got, body, want)
		}
	}
}

func TestConditionalRequests(t *testing.T) {
	server := sharedServer()
	for _, address := range []string{"/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/apis"} {
		first, _ := fetch(t, server, "GET", address, "Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json")
		etag := first.Header.Get("Etag")
		if len(etag) < 20 || etag[0] != '"' {
			t.Errorf("GET %s: got ETag %s, want a quoted hash", address, etag)
		}
		again, body := fetch(t, server, "GET", address, "Accept", first.Header.Get("Content-Type"), "If-None-Match", etag)
		if again.StatusCode != http.StatusNotModified || len(body) > 0 {
			t.Errorf("GET %s with the current ETag: got status %s and %d bytes, want 304 without a body", address, again.Status, len(body))
		}
		other, _ := fetch(t, server, "GET", address, "Accept", first.Header.Get("Content-Type"), "If-None-Match", `"other"`)
		if other.StatusCode != http.StatusOK {
			t.Errorf("GET %s with another ETag: got status %s, want 200", address, other.Status)
		}
	}
}

func TestOpenAPI3Hashes(t *testing.T) {
	server := sharedServer()
	var index index3
	if err := json.Unmarshal(get(t, server, "/openapi/v3", ""), &index); err != nil {
		t.Fatal(err)
	}
	currentURL := index.Paths["apis/coordination.k8s.io/v1"].ServerRelativeURL
	if !strings.HasPrefix(currentURL, "/openapi/v3/apis/coordination.k8s.io/v1?hash=") {
		t.Fatalf("serverRelativeURL in /openapi/v3: got %s, want a URL with a hash", currentURL)
	}
	for _, accept := range []string{mediaJSON, mediaOpenAPI3} {
		response, _ := fetch(t, server, "GET", currentURL, "Accept", accept)
		if response.StatusCode != http.StatusOK || response.Header.Get("Cache-Control") != "public, immutable" || response.Header.Get("Expires") == "" {
			t.Errorf("GET with the current hash: got status %s and headers %v, want 200, immutable and Expires", response.Status, response.Header)
		}
		response, _ = fetch(t, server, "GET", "/openapi/v3/apis/coordination.k8s.io/v1?hash=old", "Accept", accept)
		if response.StatusCode != http.StatusMovedPermanently || response.Header.Get("Location") != currentURL {
			t.Errorf("GET with an old hash: got status %s and Location %s, want 301 to %s", response.Status, response.Header.Get("Location"), currentURL)
		}
		response, _ = fetch(t, server, "GET", "/openapi/v3/apis/coordination.k8s.io/v1", "Accept", accept)
		if response.Header.Get("Cache-Control") != "no-cache, private" {
			t.Errorf("GET without a hash: got headers %v, want Cache-Control no-cache, private", response.Header)
		}
	}
}

func TestCompression(t *testing.T) {
	server := sharedServer()
	plain, want := fetch(t, server, "GET", "/openapi/v2", "Accept-Encoding", "identity")
	packed, body := fetch(t, server, "GET", "/openapi/v2", "Accept-Encoding", "br, gzip")
	if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" || len(body) > len(want)/4 {
		t.Errorf("GET /openapi/v2: got headers %v with %d bytes for identity and %v with %d bytes for gzip, want gzip to be compressed to a quarter", plain.Header, len(want), packed.Header, len(body))
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("GET /openapi/v2 with gzip: got %d decompressed bytes and error %v, want the %d bytes of the response without gzip", len(got), err, len(want))
	}
	small, _ := fetch(t, server, "GET", "/version", "Accept-Encoding", "gzip")
	if small.Header.Get("Content-Encoding") != "" {
		t.Errorf("GET /version with Accept-Encoding gzip: got Content-Encoding %q, want none for a small document", small.Header.Get("Content-Encoding"))
	}
	for header, want := range map[string]bool{"gzip": true, "deflate, gzip;q=0.5": true, "*": true, "": false, "gzip;q=0": false, "gzip; q=0.0": false, "br": false} {
		if encoding.AcceptsGzip(header) != want {
			t.Errorf("AcceptsGzip(%q) = %t, want %t", header, !want, want)
		}
	}
}

func TestMethods(t *testing.T) {
	server := sharedServer()
	response, body := fetch(t, server, "POST", "/apis/apps/v1")
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err != nil || response.StatusCode != 405 || status.Reason != metav1.StatusReasonMethodNotAllowed || status.Kind != "Status" {
		t.Errorf("POST /apis/apps/v1: got status %s and body %s, want a Status with code 405", response.Status, body)
	}
	for path, want := range map[string]int{"/api": 405, "/api/v1": 405, "/version": 405, "/apis": 200, "/apis/apps": 200, "/openapi/v3": 200, "/apis/apps/v9": 404} {
		for _, method := range []string{"DELETE", "HEAD"} {
			if response, body := fetch(t, server, method, path); response.StatusCode != want {
				t.Errorf("%s %s: got status %s and body %s, want %d", method, path, response.Status, body, want)
			}
		}
	}
	response, body = fetch(t, server, "HEAD", "/openapi/v2", "Accept-Encoding", "identity")
	if response.StatusCode != 200 || len(body) != 0 || response.ContentLength < 1e6 {
		t.Errorf("HEAD /openapi/v2: got status %s and Content-Length %d, want 200 and more than 1 MB, without a body", response.Status, response.ContentLength)
	}
}

// TestRegisterChanges checks that documents describe a kind from its addition to the register until its removal, and that the
// hashes of documents that do not contain the kind do not change.
func TestRegisterChanges(t *testing.T) {
	register, err := api.NewRegister(someKinds()...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(register, Options{Subresources: testSubresources}))
	defer server.Close()
	before := get(t, server, "/openapi/v3", "")
	if response, _ := fetch(t, server, "GET", "/apis/example.org/v1"); response.StatusCode != 404 {
		t.Fatalf("GET /apis/example.org/v1 before the kind is added: got status %s, want 404", response.Status)
	}
	things := &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Namespaced: true, Subresources: []string{"status"}}
	if err := register.Add(things); err != nil {
		t.Fatal(err)
	}
	if list := get(t, server, "/apis/example.org/v1", ""); !strings.Contains(string(list), `"things/status"`) {
		t.Errorf("GET /apis/example.org/v1: got %s, want things/status in it", list)
	}
	document := parseJSON(t, get(t, server, "/openapi/v3/apis/example.org/v1", ""))
	schemas := document["components"].(map[string]any)["schemas"].(map[string]any)
	thing := schemas["org.example.v1.Thing"].(map[string]any)
	if thing["type"] != "object" || thing["properties"] != nil || thing[kindExtension].([]any)[0].(map[string]any)["kind"] != "Thing" {
		t.Errorf("OpenAPI schema of Thing: got %v, want an object without properties", thing)
	}
	if schemas["org.example.v1.ThingList"] == nil || document["paths"].(map[string]any)["/apis/example.org/v1/namespaces/{namespace}/things/{name}/status"] == nil {
		t.Error("OpenAPI v3 document of example.org/v1: want the schema ThingList and the path of the status subresource in it")
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { fetch(t, server, "GET", "/openapi/v2", "Accept", mediaOpenAPI2) })
	}
	register.Remove("example.org", "things")
	wait.Wait()
	if response, _ := fetch(t, server, "GET", "/openapi/v3/apis/example.org/v1"); response.StatusCode != 404 {
		t.Errorf("GET of the OpenAPI v3 document after the kind is removed: got status %s, want 404", response.Status)
	}
	if after := get(t, server, "/openapi/v3", ""); !bytes.Equal(before, after) {
		t.Errorf("GET /openapi/v3 after adding and removing a kind: got %s, want the same as before, %s", after, before)
	}
}

func TestNoKinds(t *testing.T) {
	register, err := api.NewRegister()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(register, Options{Subresources: testSubresources}))
	defer server.Close()
	for address, want := range map[string]string{
		"/api": `"versions":[]`, "/apis": `"groups":[]`, "/openapi/v2": `"swagger":"2.0"`, "/openapi/v3": `"paths"`,
	} {
		if body := get(t, server, address, ""); !strings.Contains(string(body), want) {
			t.Errorf("GET %s without kinds: got %.200s, want %s in it", address, body, want)
		}
	}
}
