package stored

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

func newCodec(t *testing.T, mediaType string) *Codec {
	t.Helper()
	c, err := NewCodec(append(api.Builtin(), crd.Kind()), mediaType)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// decode decodes a value that must be valid.
func decode(t *testing.T, c *Codec, key string, value []byte) string {
	t.Helper()
	decoded, err := c.Decode(key, value)
	if err != nil {
		t.Fatalf("Decode(%.200q): %v", value, err)
	}
	return string(decoded)
}

// TestFixtures decodes the objects of k8s.io/api, of every kind, version and release, from JSON and from protobuf.
func TestFixtures(t *testing.T) {
	c, withProtobuf := newCodec(t, JSON), newCodec(t, Protobuf)
	kinds := map[string]*api.Kind{}
	for _, k := range c.kinds {
		for _, version := range k.Versions {
			kinds[k.APIVersion(version)+" "+k.Name] = k
		}
		for from := range equalVersions {
			if group, _, _ := strings.Cut(from.apiVersion, "/"); group == k.Group && from.kind == k.Name {
				kinds[from.apiVersion+" "+k.Name] = k
			}
		}
	}
	decoded, converted := map[string]bool{}, 0
	encodingtest.Each(t, func(t *testing.T, f encodingtest.Fixture) {
		k := kinds[f.GroupVersion().String()+" "+f.Kind]
		if k == nil || f.Type == nil || k.Definition != nil {
			t.Skip("not stored at this version")
		}
		key := k.StoreName() + "/name"
		fromJSON, fromProtobuf := decode(t, c, key, f.AfterJSON), decode(t, c, key, f.AfterProtobuf)
		if fromJSON != fromProtobuf {
			t.Fatalf("Decode() of JSON = \n%s, of protobuf =\n%s, want the same", fromJSON, fromProtobuf)
		}
		doc, err := document.ParseJSON([]byte(fromJSON))
		if err != nil {
			t.Fatal(err)
		}
		if version := doc.Get("apiVersion").Text(); version != k.StoredVersion() {
			t.Errorf("Decode(): apiVersion = %q, want %q", version, k.StoredVersion())
		}
		if canonical, ok := doc.CanonicalJSON(); !ok || canonical != fromJSON {
			t.Errorf("Decode() = %s, want canonical JSON", fromJSON)
		}
		encoded, err := withProtobuf.Encode(key, []byte(fromJSON))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(encoded, protobufPrefix) && k.HasGoType() {
			t.Errorf("Encode() as protobuf = %.20q, want the prefix %q", encoded, protobufPrefix)
		}
		if again := decode(t, c, key, encoded); again != fromJSON {
			t.Errorf("Decode(Encode()) = \n%s, want\n%s", again, fromJSON)
		}
		decoded[k.StoreName()] = true
		if f.GroupVersion().String() != k.StoredVersion() {
			converted++
		}
	})
	if len(decoded) < 50 || converted < 5 {
		t.Errorf("decoded the objects of %d resources, %d of which were converted, want 50 and 5 or more", len(decoded), converted)
	}
}

// TestOwnValues checks that canonical JSON is returned without a copy, and encoded unchanged.
func TestOwnValues(t *testing.T) {
	c := newCodec(t, "")
	value := []byte(`{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}`)
	decoded, err := c.Decode("core/configmaps/default/a", value)
	if err != nil || unsafe.SliceData(decoded) != unsafe.SliceData(value) || len(decoded) != len(value) {
		t.Errorf("Decode() = %s, %v, want the argument", decoded, err)
	}
	encoded, err := c.Encode("core/configmaps/default/a", value)
	if err != nil || unsafe.SliceData(encoded) != unsafe.SliceData(value) || len(encoded) != len(value) {
		t.Errorf("Encode() = %s, %v, want the argument", encoded, err)
	}
}

// TestForeignJSON decodes JSON as kube-apiserver writes it: members in the order of Go structs, a newline, and, in objects of former
// releases, nulls and absent defaults.
func TestForeignJSON(t *testing.T) {
	c := newCodec(t, "")
	for _, test := range []struct{ key, stored, want string }{
		{
			"core/configmaps/default/a",
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","selfLink":"/x","creationTimestamp":null,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]},"data":{"b":"2","a":"1"}}` + "\n",
			`{"apiVersion":"v1","data":{"a":"1","b":"2"},"kind":"ConfigMap","metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}},"manager":"m","operation":"Update","time":"2026-01-02T03:04:05Z"}],"name":"a","namespace":"default"}}`,
		},
		{
			"core/secrets/default/a",
			`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}}`,
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"default"},"type":"Opaque"}`,
		},
		{ // custom resources are not decoded
			"example.com/widgets/default/a",
			`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a","namespace":"default"},"spec":{"x":null,"n":1.0}}`,
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"default"},"spec":{"n":1.0,"x":null}}`,
		},
	} {
		if got := decode(t, c, test.key, []byte(test.stored)); got != test.want {
			t.Errorf("Decode(%s) =\n%s, want\n%s", test.key, got, test.want)
		}
	}
}

// TestDefinitions decodes a CustomResourceDefinition of the version v1beta1, as kube-apiserver stores it.
func TestDefinitions(t *testing.T) {
	c := newCodec(t, Protobuf)
	const key = "apiextensions.k8s.io/customresourcedefinitions/widgets.example.com"
	stored := `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"widgets.example.com"},` +
		`"spec":{"group":"example.com","version":"v1","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"scope":"Namespaced",` +
		`"validation":{"openAPIV3Schema":{"type":"object"}},"versions":[{"name":"v1","served":true,"storage":true}],"conversion":{"strategy":"None"},"preserveUnknownFields":false},` +
		`"status":{"conditions":[],"acceptedNames":{"plural":"widgets","kind":"Widget"},"storedVersions":["v1"]}}`
	got := decode(t, c, key, []byte(stored))
	var d struct {
		APIVersion string
		Spec       struct {
			Versions []struct {
				Name   string
				Schema map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(got), &d); err != nil {
		t.Fatal(err)
	}
	if d.APIVersion != "apiextensions.k8s.io/v1" || len(d.Spec.Versions) != 1 || d.Spec.Versions[0].Schema["openAPIV3Schema"] == nil {
		t.Errorf("Decode() = %s, want a v1 definition with a schema in its version", got)
	}
	if encoded, err := c.Encode(key, []byte(got)); err != nil || string(encoded) != got {
		t.Errorf("Encode() = %s, %v, want JSON", encoded, err)
	}
}

func TestUnreadable(t *testing.T) {
	c := newCodec(t, "")
	for stored, want := range map[string]string{
		"k8s:enc:aescbc:v1:key1:xyz": "encrypted",
		"k8s\x00\xff\xff":            "protobuf",
		"{":                          "",
		`{"kind":"Deployment","apiVersion":"extensions/v1beta1","metadata":{"name":"a"}}`: "extensions/v1beta1",
	} {
		if _, err := c.Decode("apps/deployments/default/a", []byte(stored)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Decode(%q) = %v, want an error with %q", stored, err, want)
		}
	}
	if _, err := c.Decode("core/secrets/default/a", []byte("k8s:enc:secretbox:v1:")); !errors.Is(err, errEncrypted) {
		t.Errorf("Decode() of an encrypted value = %v, want %v", err, errEncrypted)
	}
	if _, err := NewCodec(nil, "application/yaml"); err == nil {
		t.Error("NewCodec(application/yaml): error = nil, want an error")
	}
}
