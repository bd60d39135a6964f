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

// TestFixtures takes every object that k8s.io/api ships, of a kind that we have, through every media: what was sent in
// YAML, protobuf or CBOR is the object in JSON, and what is answered in any media is the object again. What
// passes through Go types is the object that this release has: earlier ones may have had more fields, or less.
func TestFixtures(t *testing.T) {
	kinds := map[string]bool{}
	encodingtest.Each(t, func(t *testing.T, f encodingtest.Fixture) {
		if _, ok := scheme.GoType(f.GroupVersion().String(), f.Kind); !ok {
			t.Skip("a kind that is not served: an alpha or beta version")
		}
		kinds[f.String()] = true
		checkFixture(t, f)
	})
	if len(kinds) < 60 {
		t.Errorf("there are fixtures of %d kinds, expected those of all stable ones", len(kinds))
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
		expected := object // of which we lose nothing that has a name
		if media == Protobuf {
			expected = after
			if string(answer) != string(f.AfterProtobuf) {
				t.Errorf("an answer in protobuf is %q, expected %q", answer, f.AfterProtobuf)
			}
		}
		checkRead(t, "an answer in "+media.String(), expected, func() ([]byte, error) { return readBack(media, answer) })
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

// checkRead reads something that is an object.
func checkRead(t *testing.T, what string, object document.Value, read func() ([]byte, error)) {
	t.Helper()
	text, err := read()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if received, err := document.ParseJSON(text); err != nil || !document.Equal(received, object) {
		t.Errorf("%s: received %s\nexpected %s: %v", what, text, object.JSON(), err)
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

// kubernetesCBOR has Kubernetes write an object.
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
