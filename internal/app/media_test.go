package app

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

const protobufMedia = "application/vnd.kubernetes.protobuf"

// widgetVerbs are requests for custom resources whose responses are objects or lists. Each request succeeds after the requests
// that precede it in the list.
var widgetVerbs = []struct {
	name, method, path, body, contentType string
}{
	{"create", "POST", "/apis/example.com/v1/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","finalizers":["a/b"]},"size":1}`, "application/json"},
	{"get", "GET", "/apis/example.com/v1/widgets/a", "", ""},
	{"list", "GET", "/apis/example.com/v1/widgets", "", ""},
	{"update", "PUT", "/apis/example.com/v1/widgets/a", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","finalizers":["a/b"],"resourceVersion":"$"},"size":2}`, "application/json"},
	{"merge patch", "PATCH", "/apis/example.com/v1/widgets/a", `{"size":3}`, mergeType},
	{"JSON patch", "PATCH", "/apis/example.com/v1/widgets/a", `[{"op":"replace","path":"/size","value":4}]`, "application/json-patch+json"},
	{"apply", "PATCH", "/apis/example.com/v1/widgets/a?fieldManager=me&force=true", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"size":5}`, applyType},
	{"apply that creates", "PATCH", "/apis/example.com/v1/widgets/b?fieldManager=me", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b","finalizers":["a/b"]}}`, applyType},
	{"delete", "DELETE", "/apis/example.com/v1/widgets/a", "", ""},
	{"deletecollection", "DELETE", "/apis/example.com/v1/widgets", "", ""},
}

// callWidgets sends a request of widgetVerbs. In updates, it replaces $ with the current resourceVersion, which updates of
// custom resources require.
func (c *client) callWidgets(method, path, body string, headers ...string) *testResponse {
	c.t.Helper()
	if method == http.MethodPut {
		body = strings.Replace(body, "$", c.call("GET", path, "").want(200).get("metadata", "resourceVersion"), 1)
	}
	return c.call(method, path, body, headers...)
}

// TestMediaOfCustomResources checks that clients that prefer protobuf receive custom resources in the next encoding that
// they accept, for every verb.
func TestMediaOfCustomResources(t *testing.T) {
	for accept, media := range map[string]string{
		protobufMedia + ",application/json":       "application/json",
		protobufMedia + ",*/*;q=0.1":              "application/json",
		protobufMedia + ",application/yaml":       "application/yaml",
		protobufMedia + ",application/cbor;q=0.5": "application/cbor",
		protobufMedia + ";drop=metadata.managedFields,application/json;drop=metadata.managedFields": "application/json",
	} {
		t.Run(accept, func(t *testing.T) {
			c := start(t, Config{Drop: true})
			c.define()
			for _, v := range widgetVerbs {
				answer := c.callWidgets(v.method, v.path, v.body, "Accept: "+accept, "Content-Type: "+v.contentType)
				if answer.code >= 300 || answer.header.Get("Content-Type") != media {
					t.Errorf("%s: got %d %s %s, want success in %s", v.name, answer.code, answer.header.Get("Content-Type"), answer.text, media)
				}
				if has := strings.Contains(answer.text, "managedFields"); has == strings.Contains(accept, "drop=") {
					t.Errorf("%s: response contains managedFields = %v, want %v", v.name, has, !has)
				}
			}
			if received := c.call("GET", definitions+"/widgets.example.com", "", "Accept: "+accept).want(200).header.Get("Content-Type"); received != media {
				t.Errorf("CustomResourceDefinition: received media type %s, want %s", received, media)
			}
			if media == "application/yaml" {
				return // watches do not support YAML
			}
			for _, path := range []string{definitions, "/apis/example.com/v1/widgets"} {
				watch := c.open("GET", path+"?watch=true", "", "Accept: "+accept)
				watch.Body.Close()
				if received := watch.Header.Get("Content-Type"); watch.StatusCode != 200 || !strings.HasPrefix(received, media) {
					t.Errorf("watch of %s: received %d %s, want 200 %s", path, watch.StatusCode, received, media)
				}
			}
		})
	}
}

// TestUnacceptableMedia checks that a request is rejected before it is executed if the client accepts no encoding that the
// response supports.
func TestUnacceptableMedia(t *testing.T) {
	c := start(t, Config{})
	c.define()
	c.call("POST", "/apis/example.com/v1/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"old"},"size":1}`).want(201)
	before := c.call("GET", "/apis/example.com/v1/widgets", "").want(200).get("items")
	for _, v := range widgetVerbs {
		path := strings.Replace(v.path, "widgets/a", "widgets/old", 1)
		answer := c.callWidgets(v.method, path, strings.Replace(v.body, `"name":"a"`, `"name":"old"`, 1), "Accept: "+protobufMedia, "Content-Type: "+v.contentType)
		if status, ok := decode(t, protobufMedia, answer.text).(*metav1.Status); answer.code != 406 || !ok || status.Reason != "NotAcceptable" {
			t.Errorf("%s %s: received %d %q, want a 406 Status with reason NotAcceptable", v.name, path, answer.code, answer.text)
		}
		if after := c.call("GET", "/apis/example.com/v1/widgets", "").want(200).get("items"); after != before {
			t.Fatalf("%s %s was rejected, but changed the stored widgets from %s\nto %s", v.name, path, before, after)
		}
	}
	other := strings.ReplaceAll(strings.ReplaceAll(widgets, "widgets", "gadgets"), "Widget", "Gadget")
	c.call("POST", definitions, other, "Accept: "+protobufMedia).want(406)
	c.call("GET", definitions+"/gadgets.example.com", "").want(404)
	for _, path := range []string{definitions, "/apis/example.com/v1/widgets"} {
		c.call("GET", path+"?watch=true", "", "Accept: "+protobufMedia).want(406)
		c.call("GET", path+"?watch=true", "", "Accept: "+protobufMedia+";stream=watch").want(406)
	}
}

// TestMetadataInProtobuf checks that PartialObjectMetadata of custom resources can be encoded in protobuf.
func TestMetadataInProtobuf(t *testing.T) {
	c := start(t, Config{})
	c.define()
	const accept = "Accept: " + protobufMedia + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	for _, v := range widgetVerbs {
		if v.name == "list" || v.name == "deletecollection" { // responses of these verbs are a PartialObjectMetadataList
			continue
		}
		answer := c.callWidgets(v.method, v.path, v.body, accept, "Content-Type: "+v.contentType)
		if metadata, ok := decode(t, protobufMedia, answer.text).(*metav1.PartialObjectMetadata); answer.code >= 300 || !ok || metadata.Name == "" {
			t.Errorf("%s: received %d %q, want PartialObjectMetadata with a name", v.name, answer.code, answer.text)
		}
	}
	for path, name := range map[string]string{definitions: "widgets.example.com", "/apis/example.com/v1/widgets": "a"} {
		watch := c.open("GET", path+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "", accept)
		event, object := eventReader(t, protobufMedia, watch.Body)()
		if metadata, ok := object.(*metav1.PartialObjectMetadata); event != "ADDED" || !ok || metadata.Name != name {
			t.Errorf("watch of %s: received %s %v, want ADDED with PartialObjectMetadata of %s", path, event, object, name)
		}
		watch.Body.Close()
	}
}

// TestKindsWithProtobuf checks that content negotiation and the encoder agree on which kinds can be encoded in protobuf.
func TestKindsWithProtobuf(t *testing.T) {
	for _, k := range append(api.Builtin(), crd.Kind()) {
		for _, version := range k.Versions {
			_, err := protobuf.Encode(document.NewMap(
				document.Field{Name: "apiVersion", Value: document.NewString(k.APIVersion(version))},
				document.Field{Name: "kind", Value: document.NewString(k.Name)},
			))
			none := (*protobuf.NoTypeError)(nil)
			if err != nil && !errors.As(err, &none) || k.HasGoType() != (err == nil) {
				t.Errorf("%s at %s: HasGoType() = %v, but encoding in protobuf returned %v", k, version, k.HasGoType(), err)
			}
		}
	}
}

// TestStatusOfDeletion checks that the Status of a deletion is encoded in the accepted media type even if the Accept header
// requests a Table or PartialObjectMetadata.
func TestStatusOfDeletion(t *testing.T) {
	c := start(t, Config{Drop: true})
	c.define()
	c.call("POST", deployments, deployment("web", "a:1")).want(201)
	c.call("POST", "/apis/example.com/v1/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"web"}}`).want(201)
	for accept, media := range map[string]string{
		protobufMedia + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io":                             protobufMedia,
		protobufMedia + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io":                         protobufMedia,
		protobufMedia + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io;drop=metadata.managedFields": protobufMedia,
		"application/cbor;as=PartialObjectMetadata;v=v1;g=meta.k8s.io":                             "application/cbor",
		"application/yaml;as=Table;v=v1;g=meta.k8s.io":                                             "application/yaml",
		"application/json;as=Table;v=v1;g=meta.k8s.io":                                             "application/json",
		protobufMedia + ";as=Table;v=v1;g=meta.k8s.io,application/yaml":                            "application/yaml",
	} {
		for _, path := range []string{deployments, "/apis/example.com/v1/widgets"} {
			answer := c.call("DELETE", path+"/web?dryRun=All", "", "Accept: "+accept)
			if received := answer.header.Get("Content-Type"); answer.code != 200 || received != media {
				t.Errorf("delete of %s with Accept %s: received %d %s %q, want 200 %s", path, accept, answer.code, received, answer.text, media)
				continue
			}
			if status, ok := decode(t, media, answer.text).(*metav1.Status); !ok || status.Status != metav1.StatusSuccess || status.Details.Name != "web" {
				t.Errorf("delete of %s with Accept %s: received %q, want a Status of success", path, accept, answer.text)
			}
		}
	}
}
