package codec

import (
	"encoding/binary"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// TestPackedErrorEvents: Kubernetes' own types read the event that ends a watch, also if only metadata was asked for.
func TestPackedErrorEvents(t *testing.T) {
	for _, media := range []Media{Protobuf, CBOR} {
		events, err := NewEvents(View{Format: Format{Media: media, Shape: Partial, Drop: true}})
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
				t.Fatalf("%v: received %q: %v", media, event.Type, err)
			}
			status = event.Object
		}
		if status.Code != 410 || status.Reason != metav1.StatusReasonExpired || status.Message != "too old" {
			t.Errorf("%v: received %+v", media, status)
		}
	}
}

// protobufStatus reads the status of an event: its length, the event, and in it what says what it is.
func protobufStatus(t *testing.T, frame []byte) (status metav1.Status) {
	if length := binary.BigEndian.Uint32(frame); int(length) != len(frame)-4 {
		t.Fatalf("expected a frame of %d bytes, received %d", length, len(frame)-4)
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame[4:]); err != nil || event.Type != "ERROR" {
		t.Fatalf("received %q: %v", event.Type, err)
	}
	var unknown kuberuntime.Unknown
	if err := unknown.Unmarshal(event.Object.Raw[len("k8s\x00"):]); err != nil || unknown.Kind != "Status" {
		t.Fatalf("received %q: %v", unknown.Kind, err)
	}
	if err := status.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
	return status
}
