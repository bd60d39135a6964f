package protobuf

import (
	gobytes "bytes"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

// eachFixture runs a test for the fixtures of every kind of k8s.io/api and every release, including kinds that are not served.
// asJSON and asProtobuf are the object after a round trip through the Go types of this release.
func eachFixture(t *testing.T, test func(t *testing.T, typ reflect.Type, asJSON, asProtobuf []byte)) {
	encodingtest.Each(t, func(t *testing.T, f encodingtest.Fixture) {
		if f.Type == nil {
			t.Skip("k8s.io/api no longer has this kind")
		}
		test(t, f.Type, f.AfterJSON, f.AfterProtobuf)
	})
}

// TestFixtures compares the encoding of every fixture byte for byte with Kubernetes' own marshallers.
func TestFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, typ reflect.Type, asJSON, asProtobuf []byte) {
		v, err := document.ParseJSON(asJSON)
		if err != nil {
			t.Fatal(err)
		}
		checkEnvelope(t, typ, v, asProtobuf)
		checkDropped(t, typ, v)
		// An empty object covers the fields that are encoded even if they are empty.
		empty := reflect.New(typ).Interface().(runtime.Object)
		empty.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(v.Get("apiVersion").Text(), v.Get("kind").Text()))
		var buffer gobytes.Buffer
		if err := protobuf.NewSerializer(encodingtest.Types(), encodingtest.Types()).Encode(empty, &buffer); err != nil {
			t.Fatal(err)
		}
		only := document.NewMap(document.Field{Name: "apiVersion", Value: v.Get("apiVersion")}, document.Field{Name: "kind", Value: v.Get("kind")})
		checkEnvelope(t, typ, only, buffer.Bytes())
	})
}

func checkEnvelope(t *testing.T, typ reflect.Type, v document.Value, expected []byte) {
	t.Helper()
	m, err := MessageOf(typ)
	if err != nil {
		t.Fatal(err)
	}
	o := NewObject(m, v)
	objectType := Type{v.Get("apiVersion").Text(), v.Get("kind").Text()}
	received := AppendEnvelopeEnd(o.Append(objectType.AppendEnvelope(nil, o.Size(false)), false))
	if len(received) != objectType.EnvelopeSize(o.Size(false)) {
		t.Errorf("size of the object in its envelope = %d bytes, want %d", len(received), objectType.EnvelopeSize(o.Size(false)))
	}
	if string(received) != string(expected) {
		at := 0
		for at < min(len(received), len(expected)) && received[at] == expected[at] {
			at++
		}
		t.Errorf("the encoding differs from Kubernetes' at byte %d of %d: got\n%.60q, want\n%.60q", at, len(expected), received[at:], expected[at:])
	}
}

// checkDropped checks that encoding an object and omitting managedFields yields the same bytes as encoding an object without
// managedFields.
func checkDropped(t *testing.T, typ reflect.Type, v document.Value) {
	t.Helper()
	m, err := MessageOf(typ)
	if err != nil {
		t.Fatal(err)
	}
	o, without := NewObject(m, v), NewObject(m, withoutManagedFields(v))
	if received, expected := o.Append(nil, true), without.Append(nil, false); string(received) != string(expected) || len(received) != o.Size(true) {
		t.Errorf("Append() without managedFields = \n%q, want\n%q", received, expected)
	}
	if received, expected := o.AppendMetadata(nil, true), without.AppendMetadata(nil, false); string(received) != string(expected) || len(received) != o.MetadataSize(true) {
		t.Errorf("AppendMetadata() without managedFields = \n%q, want\n%q", received, expected)
	}
}

func withoutManagedFields(v document.Value) document.Value {
	metadata := v.Get("metadata")
	if metadata.IsAbsent() {
		return v
	}
	return v.With("metadata", metadata.Without("managedFields"))
}
