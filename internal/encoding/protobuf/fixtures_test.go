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

// eachFixture runs a test for each fixture of every kind that k8s.io/api has, in every release: also of those that we do
// not serve. The types are this release's, so that the object is what it is after a round trip.
func eachFixture(t *testing.T, test func(t *testing.T, of reflect.Type, asJSON, asProtobuf []byte)) {
	encodingtest.Each(t, func(t *testing.T, f encodingtest.Fixture) {
		if f.Type == nil {
			t.Skip("a kind that k8s.io/api has no more")
		}
		test(t, f.Type, f.AfterJSON, f.AfterProtobuf)
	})
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
		if err := protobuf.NewSerializer(encodingtest.Types(), encodingtest.Types()).Encode(empty, &buffer); err != nil {
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

func withoutManagedFields(v document.Value) document.Value {
	metadata := v.Get("metadata")
	if metadata.IsAbsent() {
		return v
	}
	return v.With("metadata", metadata.Without("managedFields"))
}
