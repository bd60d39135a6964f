package client

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cadastre/cadastre/document"
)

// TestStripJSON checks that managedFields, and nothing else, are removed from JSON with various white space and surrounding
// fields.
func TestStripJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"managedFields":[{}],"name":"a"}}`:                                      `{"metadata":{"name":"a"}}`,
		`{"metadata":{"name":"a","managedFields":[{}]}}`:                                      `{"metadata":{"name":"a"}}`,
		`{"metadata":{"managedFields":[{}]}}`:                                                 `{"metadata":{}}`,
		`{"metadata":{"a":1,"managedFields":[{"x":"]}\"\\"}],"b":2}}`:                         `{"metadata":{"a":1,"b":2}}`,
		`{"metadata":{"a":1,"managedFields":null,"managedFields":[]}}`:                        `{"metadata":{"a":1}}`,
		"{\n  \"metadata\": {\n    \"managedFields\": [\n    ],\n    \"name\": \"a\"\n  }\n}": "{\n  \"metadata\": {\n    \"name\": \"a\"\n  }\n}",
		`{ "metadata" : { "name" : "a" , "managedFields" : [ ] } , "x" : 1 }`:                 `{ "metadata" : { "name" : "a" } , "x" : 1 }`,
		`{"items":[{"metadata":{"managedFields":[1]}},{"metadata":{}}]}`:                      `{"items":[{"metadata":{}},{"metadata":{}}]}`,
		`{"data":{"managedFields":"mine"}}`:                                                   `{"data":{"managedFields":"mine"}}`,
		`{"spec":{"template":{"metadata":{"managedFields":[]}}}}`:                             `{"spec":{"template":{"metadata":{"managedFields":[]}}}}`,
		`{"metadata":{"annotations":{"managedFields":"mine"}}}`:                               `{"metadata":{"annotations":{"managedFields":"mine"}}}`,
		`{"metadata":"managedFields"}`:                                                        `{"metadata":"managedFields"}`,
		`{"items":"managedFields"}`:                                                           `{"items":"managedFields"}`,
		`"managedFields"`:                                                                     `"managedFields"`,
		`[{"metadata":{"managedFields":[]}}]`:                                                 `[{"metadata":{"managedFields":[]}}]`,
		`{}`:                                                                                  `{}`,
	} {
		got, err := stripJSON([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("stripJSON(%s) = %s, %v; want %s", text, got, err, want)
		}
	}
	checkBrokenJSON(t)
}

// TestStripShapes checks that managedFields are removed according to the shape of a response (object, list or table), for
// fields in any order. Objects may have fields of their own named items, rows or object, whose contents must not change.
func TestStripShapes(t *testing.T) {
	const full, short = `{"metadata":{"managedFields":[1],"name":"x"}}`, `{"metadata":{"name":"x"}}`
	for text, want := range map[string]string{
		`{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":[1],"object":§F},{"cells":[2]}]}`:   `{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":[1],"object":§S},{"cells":[2]}]}`,
		`{"apiVersion":"meta.k8s.io/v1","rows":[{"object":§F}],"kind":"Table"}`:                             `{"apiVersion":"meta.k8s.io/v1","rows":[{"object":§S}],"kind":"Table"}`,
		`{"apiVersion":"a/v1","items":[§F],"kind":"XList","metadata":{"resourceVersion":"1"}}`:              `{"apiVersion":"a/v1","items":[§S],"kind":"XList","metadata":{"resourceVersion":"1"}}`,
		`{"apiVersion":"a/v1","items":[§F],"kind":"Shelf","metadata":{}}`:                                   `{"apiVersion":"a/v1","items":[§S],"kind":"Shelf","metadata":{}}`,
		`{"apiVersion":"a/v1","items":[§F],"kind":"AllowList","metadata":{"managedFields":[1],"name":"x"}}`: `{"apiVersion":"a/v1","items":[§F],"kind":"AllowList","metadata":{"name":"x"}}`,
		`{"apiVersion":"a/v1","kind":"X","metadata":{"uid":"1"},"items":[§F],"object":§F,"rows":[§F]}`:      `{"apiVersion":"a/v1","kind":"X","metadata":{"uid":"1"},"items":[§F],"object":§F,"rows":[§F]}`,
		`{"apiVersion":"a/v1","kind":"Table","metadata":{"name":"t"},"rows":[{"object":§F}]}`:               `{"apiVersion":"a/v1","kind":"Table","metadata":{"name":"t"},"rows":[{"object":§F}]}`,
		`{"kind":"XList","items":[{"metadata":{"name":"x"},"items":[§F],"object":§F}]}`:                     `{"kind":"XList","items":[{"metadata":{"name":"x"},"items":[§F],"object":§F}]}`,
	} {
		text, want = strings.NewReplacer("§F", full).Replace(text), strings.NewReplacer("§F", full, "§S", short).Replace(want)
		for media, strip := range map[string]stripper{"JSON": stripJSON, "CBOR": throughCBOR(stripCBOR)} {
			if got, err := strip([]byte(text)); err != nil || !equalJSON(got, want) {
				t.Errorf("stripping %s as %s = %s, %v; want %s", text, media, got, err, want)
			}
		}
		event, wanted := `{"type":"ADDED","object":`+text+`}`, `{"type":"ADDED","object":`+want+`}`
		for media, strip := range map[string]stripper{"JSON": stripJSONEvent, "CBOR": throughCBOR(stripCBOREvent)} {
			if got, err := strip([]byte(event)); err != nil || !equalJSON(got, wanted) {
				t.Errorf("stripping the event %s as %s = %s, %v; want %s", event, media, got, err, wanted)
			}
		}
	}
}

// throughCBOR returns a stripper for JSON. It converts the JSON to CBOR, calls strip, which is a stripper for CBOR, and
// converts the result back to JSON.
func throughCBOR(strip stripper) stripper {
	return func(text []byte) ([]byte, error) {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, err
		}
		packed, err := direct.Marshal(v)
		if err != nil {
			return nil, err
		}
		if packed, err = strip(packed); err != nil {
			return nil, err
		}
		if err := direct.Unmarshal(packed, &v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
}

// equalJSON reports whether two JSON texts have the same value.
func equalJSON(a []byte, b string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && equality.Semantic.DeepEqual(x, y)
}

// checkBrokenJSON checks that stripJSON returns an error for invalid JSON.
func checkBrokenJSON(t *testing.T) {
	t.Helper()
	for _, text := range []string{`{"managedFields"`, `{"metadata":{"managedFields":[}`, `{"metadata":{"managedFields"`, `{"managedFields" 1}`,
		`{"items":[}managedFields`, `{"rows":[:managedFields`, `{"items":[,,managedFields`, `{"managedFields":}`, `{"managedFields\`, `{"managedFields":"\`} {
		if got, err := stripJSON([]byte(text)); err == nil {
			t.Errorf("stripJSON(%s) = %s, want an error", text, got)
		}
	}
}

// FuzzStripJSON checks that stripJSON has the same result as decoding with encoding/json and removing managedFields from the
// decoded value.
func FuzzStripJSON(f *testing.F) {
	f.Add(`{"metadata":{"a":1,"managedFields":[{"x":"]}\"\\"}],"b":2},"items":[{"metadata":{"managedFields":1}}]}`)
	f.Add(`{ "rows" : [ { "object" : { "metadata" : { "managedFields" : 1 } } } , 2 ] , "kind" : "Table" , "apiVersion" : "meta.k8s.io/v1" }`)
	f.Add(`{"items":[{"metadata":{"managedFields":1}}],"metadata":{"name":"own"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		_, err := document.ParseJSON([]byte(text)) // rejects duplicate names
		if err != nil || json.Unmarshal([]byte(text), &want) != nil || strings.Contains(text, `\`) {
			_, _ = stripJSON([]byte(text + "managedFields")) // must terminate without a panic
			t.Skip("not JSON, or names with escapes")
		}
		stripValue(want)
		short, err := stripJSON([]byte(text))
		if err != nil {
			t.Fatalf("stripJSON(%s) error = %v, want none", text, err)
		}
		var got any
		if err := json.Unmarshal(short, &got); err != nil || !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("stripJSON(%s) = %s, which decodes to %v, %v; want %v", text, short, got, err, want)
		}
	})
}

// TestStripResponses checks that managedFields are removed from responses that Kubernetes' own serializers have encoded.
func TestStripResponses(t *testing.T) {
	pod := func(name string, managers ...string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"x"}}, Spec: corev1.PodSpec{NodeName: "n"}}
		for _, m := range managers {
			p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{Manager: m, FieldsV1: metav1.NewFieldsV1(`{"f:a":{}}`)})
		}
		return p
	}
	one, oneShort := pod("a", "m1", "m2"), pod("a")
	list := corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{pod("a", "m"), pod("b"), pod("c", strings.Repeat("m", 300))}}
	listShort := corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{pod("a"), pod("b"), pod("c")}}
	for i := range list.Items { // servers encode list items without kind and apiVersion
		list.Items[i].TypeMeta, listShort.Items[i].TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
	}
	codecs := map[string]runtime.Serializer{
		"application/json":                    kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kubejson.SerializerOptions{}),
		"application/cbor":                    kubecbor.NewSerializer(scheme.Scheme, scheme.Scheme),
		"application/vnd.kubernetes.protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
	}
	for media, codec := range codecs {
		for _, test := range []struct{ full, short runtime.Object }{{&one, &oneShort}, {&oneShort, &oneShort}, {&list, &listShort}} {
			kind := "Pod"
			if _, ok := test.full.(*corev1.PodList); ok {
				kind = "PodList"
			}
			for _, o := range []runtime.Object{test.full, test.short} {
				o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
			}
			var buffer bytes.Buffer
			if err := codec.Encode(test.full, &buffer); err != nil {
				t.Fatal(err)
			}
			short, err := stripAs(media, buffer.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := codec.Decode(short, nil, nil)
			got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: kind})
			if err != nil || !equality.Semantic.DeepEqual(got, test.short) {
				t.Errorf("stripped response in %s decodes to %+v, %v; want %+v", media, got, err, test.short)
			}
		}
	}
}

// stripAs removes managedFields from body, a response with the given media type.
func stripAs(mediaType string, body []byte) ([]byte, error) {
	e, _ := findEncoding(mediaType)
	return e.strip(body)
}

// TestStripBytes checks that removing managedFields does not change byte strings in any encoding, nor floats and large
// integers in CBOR.
func TestStripBytes(t *testing.T) {
	secret := corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:a":{}}`)}}},
		Data:       map[string][]byte{"binary": {0xff, 0, 1}, "text": []byte("abc"), "empty": {}, "base64": []byte("YWJj")},
	}
	short := secret.DeepCopy()
	short.ManagedFields = nil
	for media, codec := range map[string]runtime.Serializer{
		"application/json":                    kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kubejson.SerializerOptions{}),
		"application/cbor":                    kubecbor.NewSerializer(scheme.Scheme, scheme.Scheme),
		"application/vnd.kubernetes.protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
	} {
		var buffer bytes.Buffer
		if err := codec.Encode(&secret, &buffer); err != nil {
			t.Fatal(err)
		}
		stripped, err := stripAs(media, buffer.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := codec.Decode(stripped, nil, nil)
		if err != nil || !equality.Semantic.DeepEqual(got, short) {
			t.Errorf("stripped response in %s decodes to %+v, %v; want %+v", media, got, err, short)
		}
	}
	checkNumbers(t)
}

// checkNumbers checks that stripCBOR does not change floats, large integers, null and empty values of a custom resource.
func checkNumbers(t *testing.T) {
	t.Helper()
	object := map[string]any{
		"apiVersion": "a.example.com/v1", "kind": "A",
		"metadata": map[string]any{"name": "a", "managedFields": []any{}},
		"spec":     map[string]any{"one": 1.0, "tenth": 0.1, "most": int64(math.MaxInt64), "least": int64(math.MinInt64), "none": nil, "list": []any{}, "map": map[string]any{}},
	}
	packed, err := direct.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if packed, err = stripCBOR(packed); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := direct.Unmarshal(packed, &got); err != nil {
		t.Fatal(err)
	}
	delete(object["metadata"].(map[string]any), "managedFields")
	if !reflect.DeepEqual(got, object) {
		t.Errorf("custom resource after stripCBOR = %#v, want %#v", got, object)
	}
}

// TestStripDiscovery checks that discovery documents in protobuf do not change, although their field 1 is not metadata.
func TestStripDiscovery(t *testing.T) {
	kinds := runtime.NewScheme()
	version := schema.GroupVersion{Version: "v1"}
	group := metav1.APIGroup{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "apps/v1", Version: "v1"}}}
	for kind, o := range map[string]runtime.Object{
		"APIVersions":     &metav1.APIVersions{Versions: []string{"v1"}},
		"APIGroup":        &group,
		"APIGroupList":    &metav1.APIGroupList{Groups: []metav1.APIGroup{group}},
		"APIResourceList": &metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Verbs: metav1.Verbs{"get"}}}},
	} {
		kinds.AddKnownTypes(version, o)
		o.GetObjectKind().SetGroupVersionKind(version.WithKind(kind))
		var body bytes.Buffer
		if err := protobuf.NewSerializer(kinds, kinds).Encode(o, &body); err != nil {
			t.Fatal(err)
		}
		if got, err := stripProtobuf(body.Bytes()); err != nil || !bytes.Equal(got, body.Bytes()) {
			t.Errorf("stripProtobuf() of %s = %q, %v; want it unchanged: %q", kind, got, err, body.Bytes())
		}
	}
}

// FuzzStripProtobuf checks that no input causes a panic in stripProtobuf, stripProtobufEvent and stripCBOR, and that
// stripProtobuf does not return more bytes than it receives.
func FuzzStripProtobuf(f *testing.F) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}}
	pod.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	var buffer bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(&pod, &buffer); err != nil {
		f.Fatal(err)
	}
	f.Add(buffer.Bytes())
	f.Fuzz(func(t *testing.T, body []byte) {
		short, err := stripProtobuf(bytes.Clone(body))
		if err == nil && len(short) > len(body) {
			t.Errorf("stripProtobuf(%q) = %q, want at most %d bytes", body, short, len(body))
		}
		_, _ = stripProtobufEvent(body)
		_, _ = stripCBOR(body)
	})
}

func TestAccept(t *testing.T) {
	const drop = ";drop=metadata.managedFields"
	for accept, want := range map[string]string{
		"":                                   "*/*" + drop,
		"application/json":                   "application/json" + drop,
		"application/json, */*":              "application/json" + drop + ", */*" + drop,
		"application/json" + drop:            "application/json" + drop,
		"application/json;drop=":             "application/json" + drop,
		"application/json;drop=x":            "application/json;drop=x+metadata.managedFields",
		`application/json; Drop="x";q=0.5`:   "application/json;drop=x+metadata.managedFields;q=0.5",
		"application/json;as=Table;g=a;v=v1": "application/json;as=Table;g=a;v=v1" + drop,
	} {
		if got := withDrop(accept); got != want {
			t.Errorf("withDrop(%q) = %q, want %q", accept, got, want)
		}
	}
}

// TestSetEnabled checks that SetEnabled overrides the environment.
func TestSetEnabled(t *testing.T) {
	t.Cleanup(func() { gateOverride.Store(0) })
	for _, on := range []bool{true, false} {
		t.Setenv("KUBE_FEATURE_"+FeatureGate, strconv.FormatBool(!on))
		if SetEnabled(on); Enabled() != on {
			t.Errorf("after SetEnabled(%v): Enabled() = %v, want %v", on, Enabled(), on)
		}
	}
}
