package encoding

import (
	"encoding/binary"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// TestBinaryErrorEvents checks that Kubernetes' own types can decode the ERROR event that ends a watch in protobuf or CBOR,
// even if the watch is for PartialObjectMetadata.
func TestBinaryErrorEvents(t *testing.T) {
	for _, media := range []*Encoding{Protobuf, CBOR} {
		events, err := NewWatchEncoder(View{Format: Format{Encoding: media, Shape: Partial, Drop: true}})
		if err != nil {
			t.Fatal(err)
		}
		frame, err := events.AppendError(nil, apierrors.NewResourceExpired("too old"))
		if err != nil {
			t.Fatal(err)
		}
		var status metav1.Status
		if media == Protobuf {
			status = protobufStatus(t, frame)
		} else {
			var event struct {
				Type   string        `json:"type"`
				Object metav1.Status `json:"object"`
			}
			if err := direct.Unmarshal(frame, &event); err != nil || event.Type != "ERROR" {
				t.Fatalf("%v: event type = %q, %v, want ERROR", media, event.Type, err)
			}
			status = event.Object
		}
		if status.Code != 410 || status.Reason != metav1.StatusReasonExpired || status.Message != "too old" {
			t.Errorf("%v: status = %+v, want code 410, reason Expired, message \"too old\"", media, status)
		}
	}
}

// TestPartialProtobuf checks that PartialObjectMetadata can be encoded in protobuf for kinds that have no Go type.
func TestPartialProtobuf(t *testing.T) {
	text := Text(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","managedFields":[{"manager":"m"}]},"spec":{"size":1}}`)
	for _, drop := range []bool{false, true} {
		check := func(description string, got metav1.PartialObjectMetadata) {
			if got.Name != "a" || got.UID != "u" || len(got.ManagedFields) == 0 != drop {
				t.Errorf("%s with drop %v = %+v, want name a, uid u, and managedFields unless dropped", description, drop, got)
			}
		}
		var one metav1.PartialObjectMetadata
		view := View{Format: Format{Encoding: Protobuf, Shape: Partial, Drop: drop}}
		answer, err := AppendObject(nil, view, text)
		if err != nil {
			t.Fatal(err)
		}
		unpack(t, answer, "PartialObjectMetadata", one.Unmarshal)
		check("object", one)

		var list metav1.PartialObjectMetadataList
		all := View{Format: Format{Encoding: Protobuf, Shape: PartialList, Drop: drop}}
		if answer, err = AppendList(nil, all, List{Kind: "WidgetList", APIVersion: "example.com/v1"}, Seq([]Text{text}), nil); err != nil {
			t.Fatal(err)
		}
		unpack(t, answer, "PartialObjectMetadataList", list.Unmarshal)
		check("list", list.Items[0])

		events, err := NewWatchEncoder(view)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err = events.Append(nil, "ADDED", text); err != nil {
			t.Fatal(err)
		}
		var event metav1.WatchEvent
		if err := event.Unmarshal(answer[4:]); err != nil {
			t.Fatal(err)
		}
		one = metav1.PartialObjectMetadata{}
		unpack(t, event.Object.Raw, "PartialObjectMetadata", one.Unmarshal)
		check("event", one)
	}
	_, err := AppendObject(nil, View{Format: Format{Encoding: Protobuf}}, text)
	if !apierrors.IsNotAcceptable(err) {
		t.Errorf("AppendObject() of the whole object: error = %v, want status 406", err)
	}
}

// unpack passes the object in the protobuf envelope answer to read. It fails the test if the envelope does not contain the
// given kind of meta.k8s.io/v1.
func unpack(t *testing.T, answer []byte, kind string, read func([]byte) error) {
	t.Helper()
	var unknown kuberuntime.Unknown
	if err := unknown.Unmarshal(answer[len("k8s\x00"):]); err != nil || unknown.Kind != kind || unknown.APIVersion != "meta.k8s.io/v1" {
		t.Fatalf("envelope = %q %q, %v, want meta.k8s.io/v1 %s", unknown.APIVersion, unknown.Kind, err, kind)
	}
	if err := read(unknown.Raw); err != nil {
		t.Fatal(err)
	}
}

// protobufStatus decodes the Status of an ERROR event in protobuf: the length prefix, the event, and the envelope in it.
func protobufStatus(t *testing.T, frame []byte) (status metav1.Status) {
	if length := binary.BigEndian.Uint32(frame); int(length) != len(frame)-4 {
		t.Fatalf("length prefix of the frame = %d, want %d", length, len(frame)-4)
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame[4:]); err != nil || event.Type != "ERROR" {
		t.Fatalf("event type = %q, %v, want ERROR", event.Type, err)
	}
	var unknown kuberuntime.Unknown
	if err := unknown.Unmarshal(event.Object.Raw[len("k8s\x00"):]); err != nil || unknown.Kind != "Status" {
		t.Fatalf("kind of the event's object = %q, %v, want Status", unknown.Kind, err)
	}
	if err := status.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
	return status
}
