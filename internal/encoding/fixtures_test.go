package codec

import (
	"bytes"
	"testing"

	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
	"github.com/cadastre/cadastre/internal/packed/packedtest"
)

// TestFixtures takes every object that k8s.io/api ships, of a kind that we have, through every media: what was sent in
// YAML, protobuf or CBOR is the object in JSON, and what is answered in any media is the object again. What
// passes through Go types is the object that this release has: earlier ones may have had more fields, or less.
func TestFixtures(t *testing.T) {
	kinds := map[string]bool{}
	packedtest.Each(t, func(t *testing.T, f packedtest.Fixture) {
		if _, ok := packed.GoType(f.GroupVersion().String(), f.Kind); !ok {
			t.Skip("a kind that is not served: an alpha or beta version")
		}
		kinds[f.String()] = true
		checkFixture(t, f)
	})
	if len(kinds) < 60 {
		t.Errorf("there are fixtures of %d kinds, expected those of all stable ones", len(kinds))
	}
}

func checkFixture(t *testing.T, f packedtest.Fixture) {
	object, after := parse(t, f.JSON), parse(t, f.AfterJSON)
	checkRead(t, "YAML", object, func() ([]byte, error) { return readBack(YAML, f.YAML) })
	checkRead(t, "protobuf", after, func() ([]byte, error) { return ReadProtobuf(f.Protobuf, schema.GroupVersionKind{}) })
	checkRead(t, "CBOR", after, func() ([]byte, error) { return ReadCBOR(kubernetesCBOR(t, object)) })
	for _, media := range []Media{JSON, YAML, Protobuf, CBOR} {
		answer, err := AppendObject(nil, View{Format: Format{Media: media}}, Text(object.JSON()))
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

func parse(t *testing.T, text []byte) document.Value {
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

// readBack reads an answer as if it were sent.
func readBack(media Media, answer []byte) ([]byte, error) {
	switch media {
	case Protobuf:
		return ReadProtobuf(answer, schema.GroupVersionKind{})
	case CBOR:
		return ReadCBOR(answer)
	case YAML:
		v, err := document.ParseYAML(answer)
		return []byte(v.JSON()), err
	}
	return answer, nil
}

// kubernetesCBOR has Kubernetes write an object.
func kubernetesCBOR(t *testing.T, object document.Value) []byte {
	t.Helper()
	types := packed.GoTypes()
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
