package serverbench

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
)

// ManagedShare returns the number of bytes that managedFields take in body, a response with a Deployment or a list of
// Deployments.
func ManagedShare(media Media, body []byte) (int, error) {
	object, err := decodeResponse(media, body)
	if err != nil {
		return 0, fmt.Errorf("decoding response as %s: %w", media, err)
	}
	with, err := encodedSize(media, object)
	if err != nil {
		return 0, err
	}
	switch object := object.(type) {
	case *appsv1.Deployment:
		object.ManagedFields = nil
	case *appsv1.DeploymentList:
		for i := range object.Items {
			object.Items[i].ManagedFields = nil
		}
	default:
		return 0, fmt.Errorf("expected Deployments, received %T", object)
	}
	without, err := encodedSize(media, object)
	return with - without, err
}

var cborSerializer = cbor.NewSerializer(scheme.Scheme, scheme.Scheme)

func decodeResponse(media Media, body []byte) (runtime.Object, error) {
	if media == CBOR {
		object, _, err := cborSerializer.Decode(body, nil, nil)
		return object, err
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	return object, err
}

// encodedSize returns the size of object encoded as media, in bytes, without the envelope of protobuf around the
// top-level object.
func encodedSize(media Media, object runtime.Object) (int, error) {
	switch media {
	case Protobuf:
		return object.(interface{ Size() int }).Size(), nil
	case CBOR:
		text, err := runtime.Encode(cborSerializer, object)
		return len(text), err
	}
	text, err := json.Marshal(object)
	return len(text), err
}
