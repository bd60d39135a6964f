package app

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// allMedia are the media types in which the server encodes responses.
var allMedia = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"}

// responseTypes returns a scheme of the Go types that responses can have: built-in kinds, PartialObjectMetadata and Status.
var responseTypes = sync.OnceValue(func() *runtime.Scheme {
	types := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(types); err != nil {
		panic(err) // cannot fail: the registered types are constant
	}
	for gvk, t := range scheme.Builtin().AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal {
			types.AddKnownTypeWithName(gvk, reflect.New(t).Interface().(runtime.Object))
		}
	}
	return types
})

// decode decodes text, a response of the given media type, with Kubernetes' own serializers.
func decode(t testing.TB, media, text string) runtime.Object {
	t.Helper()
	types := responseTypes()
	readers := map[string]runtime.Decoder{
		"application/json":                    json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{}),
		"application/yaml":                    json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{Yaml: true}),
		"application/vnd.kubernetes.protobuf": protobuf.NewSerializer(types, types),
		"application/cbor":                    kubecbor.NewSerializer(types, types),
	}
	if media == "application/yaml" && strings.HasPrefix(text, "{") {
		t.Errorf("response = %.60s, want YAML", text)
	}
	o, _, err := readers[media].Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatalf("decoding as %s: %v in %.200q", media, err, text)
	}
	return o
}

// countManagedFields returns the total number of managed fields entries in an object, or in all objects of a list.
func countManagedFields(t testing.TB, o runtime.Object) (entries int) {
	t.Helper()
	if meta.IsListType(o) {
		err := meta.EachListItem(o, func(item runtime.Object) error {
			entries += countManagedFields(t, item)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	accessor, err := meta.Accessor(o)
	if err != nil {
		t.Fatal(err)
	}
	return len(accessor.GetManagedFields())
}

const deployments = "/apis/apps/v1/namespaces/default/deployments"

func deployment(name, image string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q},"spec":{"selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":%q}]}}}}`, name, image)
}

// verbs are requests whose responses are objects or lists. Each request succeeds after the requests that precede it in the
// list.
var verbs = []struct {
	name, method, path, body, contentType string
}{
	{"create", "POST", deployments, deployment("web", "a:1"), "application/json"},
	{"get", "GET", deployments + "/web", "", ""},
	{"list", "GET", deployments, "", ""},
	{"update", "PUT", deployments + "/web", deployment("web", "a:2"), "application/json"},
	{"merge patch", "PATCH", deployments + "/web", `{"metadata":{"labels":{"x":"y"}}}`, mergeType},
	{"apply", "PATCH", deployments + "/web?fieldManager=me&force=true", deployment("web", "a:3"), applyType},
	{"apply again", "PATCH", deployments + "/web?fieldManager=me&force=true", deployment("web", "a:3"), applyType},
	{"dry run", "PATCH", deployments + "/web?fieldManager=me&force=true&dryRun=All", deployment("web", "a:4"), applyType},
	{"status", "PATCH", deployments + "/web/status", `{"status":{"replicas":1}}`, mergeType},
	{"get status", "GET", deployments + "/web/status", "", ""},
	{"pods", "POST", "/api/v1/namespaces/default/pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","finalizers":["a/b"]},"spec":{"containers":[{"name":"c","image":"a"}]}}`, "application/json"},
	{"delete", "DELETE", "/api/v1/namespaces/default/pods/p", "", ""},
	{"deletecollection", "DELETE", deployments, "", ""},
}

// TestFormats checks that every verb returns the same objects in every encoding, with and without managedFields.
func TestFormats(t *testing.T) {
	for _, drop := range []bool{false, true} {
		for _, media := range allMedia {
			t.Run(fmt.Sprintf("%s drop=%v", media, drop), func(t *testing.T) {
				c := start(t, Config{Drop: true})
				accept := "Accept: " + media
				if drop {
					accept += ";drop=metadata.managedFields"
				}
				for _, v := range verbs {
					answer := c.call(v.method, v.path, v.body, accept, "Content-Type: "+v.contentType)
					if answer.code >= 300 || answer.header.Get("Content-Type") != media {
						t.Fatalf("%s: received %d %s: %s, want success in %s", v.name, answer.code, answer.header.Get("Content-Type"), answer.text, media)
					}
					o := decode(t, media, answer.text)
					if n := countManagedFields(t, o); n > 0 == drop {
						t.Errorf("%s: received %d managed fields entries with drop=%v in %s", v.name, n, drop, answer.text)
					}
					if drop && strings.Contains(answer.text, "managedFields") {
						t.Errorf("%s: received a managedFields field, want none, not even an empty one: %s", v.name, answer.text)
					}
					if v.method != http.MethodGet {
						continue
					}
					plain := decode(t, "application/json", c.call(v.method, v.path, "").text)
					if drop {
						withoutManagedFields(t, plain)
					}
					for _, list := range []runtime.Object{o, plain} {
						if l, err := meta.ListAccessor(list); err == nil {
							l.SetResourceVersion("") // other objects may have been written between the two lists
						}
					}
					if !equality.Semantic.DeepEqual(o, plain) {
						t.Errorf("%s: got %v\nwant the object of the JSON response, %v", v.name, o, plain)
					}
				}
				if answer := c.call("GET", deployments+"/nobody", "", accept); answer.code != 404 || decode(t, media, answer.text).(*metav1.Status).Reason != metav1.StatusReasonNotFound {
					t.Errorf("get of an absent Deployment: received %d %q, want a 404 Status with reason NotFound", answer.code, answer.text)
				}
			})
		}
	}
}

// withoutManagedFields removes managedFields from a decoded object, or from all objects of a list.
func withoutManagedFields(t testing.TB, o runtime.Object) {
	t.Helper()
	if !meta.IsListType(o) {
		accessor, err := meta.Accessor(o)
		if err != nil {
			t.Fatal(err)
		}
		accessor.SetManagedFields(nil)
		return
	}
	err := meta.EachListItem(o, func(item runtime.Object) error {
		withoutManagedFields(t, item)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFormatsOfWatches checks that watches send the same events in every encoding. YAML is not supported for watches.
func TestFormatsOfWatches(t *testing.T) {
	c := start(t, Config{Drop: true})
	c.call("POST", deployments, deployment("web", "a:1"))
	for _, media := range allMedia {
		for _, drop := range []bool{false, true} {
			accept := "Accept: " + media
			if drop {
				accept += ";drop=metadata.managedFields"
			}
			response := c.open("GET", deployments+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "", accept)
			if media == "application/yaml" {
				if response.StatusCode != http.StatusNotAcceptable {
					t.Errorf("watch in YAML: received %d, want 406", response.StatusCode)
				}
				response.Body.Close()
				continue
			}
			next := eventReader(t, media, response.Body)
			event, object := next()
			if event != "ADDED" || countManagedFields(t, object) > 0 == drop {
				t.Errorf("%s: received %s %v, want ADDED, with managedFields unless they are dropped", accept, event, object)
			}
			event, object = next()
			accessor, err := meta.Accessor(object)
			if err != nil || event != "BOOKMARK" || accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
				t.Errorf("%s: received %s %v, want the bookmark that ends the initial events (error %v)", accept, event, object, err)
			}
			response.Body.Close()
		}
	}
}

// eventReader returns a function that reads the next watch event in the framing of a media type, and returns its type and
// decoded object.
func eventReader(t testing.TB, media string, r io.ReadCloser) func() (string, runtime.Object) {
	types := scheme.Builtin()
	framers := map[string]runtime.Framer{
		"application/json":                    json.Framer,
		"application/vnd.kubernetes.protobuf": protobuf.LengthDelimitedFramer,
		"application/cbor":                    kubecbor.NewFramer(),
	}
	readers := map[string]runtime.Decoder{
		"application/json":                    json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{}),
		"application/vnd.kubernetes.protobuf": protobuf.NewRawSerializer(types, types),
		"application/cbor":                    kubecbor.NewSerializer(types, types, kubecbor.Transcode(false)),
	}
	decoder := streaming.NewDecoder(framers[media].NewFrameReader(r), readers[media])
	return func() (string, runtime.Object) {
		t.Helper()
		var event metav1.WatchEvent
		if _, _, err := decoder.Decode(nil, &event); err != nil {
			t.Fatal(err)
		}
		return event.Type, decode(t, media, string(event.Object.Raw))
	}
}

// TestBodies checks that request bodies are decoded in every encoding.
func TestBodies(t *testing.T) {
	c := start(t, Config{})
	types := scheme.Builtin()
	o := decode(t, "application/json", deployment("web", "a:1"))
	for media, writer := range map[string]runtime.Encoder{
		"application/yaml":                    json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{Yaml: true}),
		"application/vnd.kubernetes.protobuf": protobuf.NewSerializer(types, types),
		"application/cbor":                    kubecbor.NewSerializer(types, types),
	} {
		var body strings.Builder
		if err := writer.Encode(o, &body); err != nil {
			t.Fatal(err)
		}
		if answer := c.call("POST", deployments, body.String(), "Content-Type: "+media); answer.code != 201 {
			t.Errorf("create in %s: received %d %s, want 201", media, answer.code, answer.text)
		}
		if answer := c.call("PUT", deployments+"/web", body.String(), "Content-Type: "+media); answer.code != 200 {
			t.Errorf("update in %s: received %d %s, want 200", media, answer.code, answer.text)
		}
		if media == "application/cbor" {
			if answer := c.call("PATCH", deployments+"/web?fieldManager=me&force=true", body.String(), "Content-Type: application/apply-patch+cbor"); answer.code != 200 || !strings.Contains(answer.text, `"Apply"`) {
				t.Errorf("apply in CBOR: received %d %s, want 200 and an Apply entry", answer.code, answer.text)
			}
			if answer := c.call("POST", deployments, "\xd9\xd9\xf7\xff", "Content-Type: "+media); answer.code != 400 || !strings.Contains(answer.text, "can't be read as application/cbor") {
				t.Errorf("create with invalid CBOR: received %d %s, want 400", answer.code, answer.text)
			}
		}
		c.call("DELETE", deployments+"/web", "")
	}
}

// TestProtobufWithoutKind checks that a protobuf body without apiVersion and kind is decoded as the kind of the endpoint, as
// in Kubernetes.
func TestProtobufWithoutKind(t *testing.T) {
	c := start(t, Config{})
	send := func(method, path string, code int, o interface{ Marshal() ([]byte, error) }) *testResponse {
		t.Helper()
		raw, err := o.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body, err := (&runtime.Unknown{Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return c.call(method, path, "k8s\x00"+string(body), "Content-Type: application/vnd.kubernetes.protobuf").want(code)
	}
	send("POST", configMaps, 201, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "untold"}}).want(201, `"kind":"ConfigMap"`)
	c.call("POST", deployments, deployment("web", "nginx")).want(201)
	send("PUT", deployments+"/web/scale", 200, &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: autoscalingv1.ScaleSpec{Replicas: 7}}).
		want(200, `"kind":"Scale"`, `"replicas":7`)
	send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 201, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}).want(201, `"allowed":true`)
	orphan := metav1.DeletePropagationOrphan
	send("DELETE", configMaps+"/untold", 200, &metav1.DeleteOptions{PropagationPolicy: &orphan}).want(200, `"finalizers":["orphan"]`)
}

// TestCompressed checks that large responses are compressed for clients that accept gzip.
func TestCompressed(t *testing.T) {
	c := start(t, Config{Drop: true})
	for i := range 60 {
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"a":%q}}`, i, strings.Repeat("x", 10_000))
		c.call("POST", "/api/v1/namespaces/default/configmaps", body)
	}
	list := decode(t, "application/json", c.call("GET", "/api/v1/namespaces/default/configmaps", "").text).(*corev1.ConfigMapList)
	path := "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion=" + list.ResourceVersion
	for _, accept := range append(allMedia, "application/json;drop=metadata.managedFields", "application/cbor;drop=metadata.managedFields") {
		plain := c.call("GET", path, "", "Accept: "+accept, "Accept-Encoding: identity")
		packed := c.call("GET", path, "", "Accept: "+accept, "Accept-Encoding: br, gzip")
		if plain.header.Get("Content-Encoding") != "" || packed.header.Get("Content-Encoding") != "gzip" || packed.header.Get("Vary") != "Accept-Encoding" || len(packed.text) > len(plain.text)/10 {
			t.Errorf("%s: received headers %v with %d bytes, and compressed %v with %d bytes; want gzip with at most a tenth of the bytes", accept, plain.header, len(plain.text), packed.header, len(packed.text))
		}
		reader, err := gzip.NewReader(strings.NewReader(packed.text))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil || string(text) != plain.text {
			t.Errorf("%s: received %d bytes when unpacked, expected %d: %v", accept, len(text), len(plain.text), err)
		}
	}
	if small := c.call("GET", "/api/v1/namespaces/default/configmaps/c1", "", "Accept-Encoding: gzip"); small.header.Get("Content-Encoding") != "" {
		t.Errorf("headers of a small response: received %v, want no Content-Encoding", small.header)
	}
}
