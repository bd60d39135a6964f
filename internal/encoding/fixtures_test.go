package encoding

import (
	"bytes"
	"testing"

	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

// TestFixtures round-trips the fixtures of k8s.io/api, for all served kinds, through every encoding: decoding a request body
// in YAML, protobuf or CBOR yields the object of the JSON fixture, and so does decoding a response. Objects that pass through
// Go types are compared with the fixture after a round trip, because earlier releases may have had other fields.
func TestFixtures(t *testing.T) {
	kinds := map[string]bool{}
	encodingtest.Each(t, func(t *testing.T, f encodingtest.Fixture) {
		if _, ok := scheme.GoType(f.GroupVersion().String(), f.Kind); !ok {
			t.Skip("the kind is not served")
		}
		kinds[f.String()] = true
		checkFixture(t, f)
	})
	if len(kinds) < 60 {
		t.Errorf("%d kinds have fixtures, want at least 60", len(kinds))
	}
}

func checkFixture(t *testing.T, f encodingtest.Fixture) {
	object, after := parseText(t, f.JSON), parseText(t, f.AfterJSON)
	checkRead(t, "YAML", object, func() ([]byte, error) { return readBack(YAML, f.YAML) })
	checkRead(t, "protobuf", after, func() ([]byte, error) { return readBack(Protobuf, f.Protobuf) })
	checkRead(t, "CBOR", after, func() ([]byte, error) { return readBack(CBOR, kubernetesCBOR(t, object)) })
	for _, media := range Encodings {
		answer, err := AppendObject(nil, View{Format: Format{Encoding: media}}, Text(object.JSON()))
		if err != nil {
			t.Fatal(err)
		}
		expected := object // encodings other than protobuf do not use Go types, so they preserve all fields
		if media == Protobuf {
			expected = after
			if string(answer) != string(f.AfterProtobuf) {
				t.Errorf("response in protobuf = %q, want %q", answer, f.AfterProtobuf)
			}
		}
		checkRead(t, "response in "+media.String(), expected, func() ([]byte, error) { return readBack(media, answer) })
	}
}

func parseText(t *testing.T, text []byte) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkRead checks that read returns the JSON of object. description names the operation in test failures.
func checkRead(t *testing.T, description string, object document.Value, read func() ([]byte, error)) {
	t.Helper()
	text, err := read()
	if err != nil {
		t.Errorf("%s: decoding = %v, want no error", description, err)
		return
	}
	if received, err := document.ParseJSON(text); err != nil || !document.Equal(received, object) {
		t.Errorf("%s = %s, %v\nwant %s", description, text, err, object.JSON())
	}
}

// readBack decodes a response as if it were a request body.
func readBack(e *Encoding, answer []byte) ([]byte, error) {
	text, err := e.DecodeBody(string(answer), schema.GroupVersionKind{})
	if err != nil || !e.YAML {
		return []byte(text), err
	}
	v, err := document.ParseYAML([]byte(text))
	return []byte(v.JSON()), err
}

// kubernetesCBOR encodes an object with Kubernetes' serializer.
func kubernetesCBOR(t *testing.T, object document.Value) []byte {
	t.Helper()
	types := scheme.Builtin()
	typed, err := types.New(schema.FromAPIVersionAndKind(object.Get("apiVersion").Text(), object.Get("kind").Text()))
	if err != nil {
		t.Fatal(err)
	}
	if err := kuberuntime.DefaultUnstructuredConverter.FromUnstructured(object.ToGo().(map[string]any), typed); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := kubecbor.NewSerializer(types, types).Encode(typed, &written); err != nil {
		t.Fatal(err)
	}
	return written.Bytes()
}
