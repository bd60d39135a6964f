package packed

import (
	gobytes "bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/cadastre/cadastre/document"
)

// fixtures are the objects that k8s.io/api ships, one of each kind with a value in every field, in JSON and in
// protobuf.
var fixtures = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	return filepath.Join(strings.TrimSpace(string(out)), "testdata", "HEAD"), err
})

// eachFixture runs a test for each fixture of a kind that we have the Go type of.
func eachFixture(t *testing.T, test func(t *testing.T, of reflect.Type, asJSON, asProtobuf []byte)) {
	folder, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.pb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no fixtures in %s: %v", folder, err)
	}
	kinds := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pb")
		asJSON, err := os.ReadFile(strings.TrimSuffix(file, ".pb") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		asProtobuf, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var meta struct{ APIVersion, Kind string }
		if err := json.Unmarshal(asJSON, &meta); err != nil {
			t.Fatal(err)
		}
		of, ok := GoType(meta.APIVersion, meta.Kind)
		if !ok {
			continue // alpha and beta
		}
		kinds++
		t.Run(name, func(t *testing.T) { test(t, of, asJSON, asProtobuf) })
	}
	if kinds < 60 {
		t.Errorf("there are fixtures of %d kinds, expected those of all stable ones", kinds)
	}
}

// TestFixtures writes what Kubernetes' own marshallers write, byte by byte.
func TestFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, of reflect.Type, asJSON, asProtobuf []byte) {
		v, err := document.ParseJSON(asJSON)
		if err != nil {
			t.Fatal(err)
		}
		checkEnvelope(t, of, v, asProtobuf)
		checkDropped(t, of, v)
		// An object without anything has all the more fields that are written although they are empty.
		empty := reflect.New(of).Interface().(runtime.Object)
		empty.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(v.Get("apiVersion").Text(), v.Get("kind").Text()))
		var buffer gobytes.Buffer
		if err := protobuf.NewSerializer(GoTypes(), GoTypes()).Encode(empty, &buffer); err != nil {
			t.Fatal(err)
		}
		only := document.NewMap(document.Field{Name: "apiVersion", Value: v.Get("apiVersion")}, document.Field{Name: "kind", Value: v.Get("kind")})
		checkEnvelope(t, of, only, buffer.Bytes())
	})
}

func checkEnvelope(t *testing.T, of reflect.Type, v document.Value, expected []byte) {
	t.Helper()
	m, err := MessageOf(of)
	if err != nil {
		t.Fatal(err)
	}
	o := NewObject(m, v)
	is := Type{v.Get("apiVersion").Text(), v.Get("kind").Text()}
	received := AppendEnvelopeEnd(o.Append(is.AppendEnvelope(nil, o.Size(false)), false))
	if len(received) != is.EnvelopeSize(o.Size(false)) {
		t.Errorf("has %d bytes, expected %d", len(received), is.EnvelopeSize(o.Size(false)))
	}
	if string(received) != string(expected) {
		at := 0
		for at < min(len(received), len(expected)) && received[at] == expected[at] {
			at++
		}
		t.Errorf("differs at byte %d of %d:\nreceived %.60q\nexpected %.60q", at, len(expected), received[at:], expected[at:])
	}
}

// checkDropped leaves out the managedFields of an object, which must then be one that never had any.
func checkDropped(t *testing.T, of reflect.Type, v document.Value) {
	t.Helper()
	m, err := MessageOf(of)
	if err != nil {
		t.Fatal(err)
	}
	o, without := NewObject(m, v), NewObject(m, withoutManagedFields(v))
	if received, expected := o.Append(nil, true), without.Append(nil, false); string(received) != string(expected) || len(received) != o.Size(true) {
		t.Errorf("without managedFields it is\n%q, expected\n%q", received, expected)
	}
	if received, expected := o.AppendMetadata(nil, true), without.AppendMetadata(nil, false); string(received) != string(expected) || len(received) != o.MetadataSize(true) {
		t.Errorf("without managedFields the metadata is\n%q, expected\n%q", received, expected)
	}
}
