package codec

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// TestFixtures takes every object that k8s.io/api ships, of a kind that we have, through every media: what was sent in
// protobuf or CBOR is the object in JSON, and what is answered in any media is the object again.
func TestFixtures(t *testing.T) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "testdata", "HEAD", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		object, err := document.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := packed.GoType(object.Get("apiVersion").Text(), object.Get("kind").Text()); !ok {
			continue // alpha and beta
		}
		kinds++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { checkFixture(t, object, strings.TrimSuffix(file, ".json")+".pb") })
	}
	if kinds < 60 {
		t.Errorf("there are fixtures of %d kinds, expected those of all stable ones", kinds)
	}
}

func checkFixture(t *testing.T, object document.Value, protobufFile string) {
	protobuf, err := os.ReadFile(protobufFile)
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]func() ([]byte, error){
		"protobuf": func() ([]byte, error) { return ReadProtobuf(protobuf, schema.GroupVersionKind{}) },
		"CBOR":     func() ([]byte, error) { return ReadCBOR(kubernetesCBOR(t, object)) },
	}
	for _, media := range []Media{JSON, YAML, Protobuf, CBOR} {
		answer, err := AppendObject(nil, View{Format: Format{Media: media}}, Text(object.JSON()))
		if err != nil {
			t.Fatal(err)
		}
		sent["an answer in "+media.String()] = func() ([]byte, error) { return readBack(media, answer) }
	}
	for what, read := range sent {
		text, err := read()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if received, err := document.ParseJSON(text); err != nil || !document.Equal(received, object) {
			t.Errorf("%s: received %s\nexpected %s: %v", what, text, object.JSON(), err)
		}
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
