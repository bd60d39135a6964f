package encoding

import (
	"iter"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/cbor"
)

// CBOR is the CBOR encoding of Kubernetes. As in Kubernetes, aggregated discovery is not served in CBOR.
var CBOR = &Encoding{
	MediaType:    "application/cbor",
	StreamType:   "application/cbor-seq",
	ApplyType:    types.ApplyCBORPatchType,
	BytesPerByte: 120, // a value can have a single byte
	Serializer:   cborSerializer{},
}

// cborForm is the cached form that holds the CBOR encoding of an object.
var cborForm = newForm(cbor.Encode, (*cbor.Object).Memory)

// cborSerializer writes one CBOR data item per object, list and watch event. The data items of a CBOR sequence need no
// framing.
type cborSerializer struct{}

func (cborSerializer) Decode(body string, _ schema.GroupVersionKind) (string, error) {
	text, err := cbor.Decode([]byte(body))
	return string(text), err
}

func (cborSerializer) AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	c, err := cborForm.encoding(o)
	if err != nil {
		return dst, err
	}
	return appendCBOR(append(dst, cbor.Prefix...), &v, c, true), nil
}

func (cborSerializer) AppendList(dst []byte, v View, l List, objects iter.Seq[Object], sink Sink) ([]byte, error) {
	var all []*cbor.Object
	for o := range objects {
		c, err := cborForm.encoding(o)
		if err != nil {
			return dst, err
		}
		all = append(all, c)
	}
	meta, err := document.ParseJSON(append(l.appendMetadata([]byte(`{"":0`)), '}'))
	if err != nil {
		return dst, err
	}
	dst = cbor.AppendListHead(dst, v.listType(&l), meta.Get("metadata"), len(all))
	for _, c := range all {
		dst = appendCBOR(dst, &v, c, l.TypedItems)
		more := true
		if sink != nil {
			dst, more = sink(dst)
		}
		if !more {
			break
		}
	}
	return dst, nil
}

func (cborSerializer) AppendEvent(dst []byte, v View, eventType string, o Object) ([]byte, error) {
	c, err := cborForm.encoding(o)
	if err != nil {
		return dst, err
	}
	return appendCBOR(cbor.AppendEventHead(dst, eventType), &v, c, true), nil
}

func (cborSerializer) AppendTyped(dst []byte, _ Format, object runtime.Object) ([]byte, error) {
	v, err := typedDocument(object)
	if err != nil {
		return dst, err
	}
	return cbor.Append(append(dst, cbor.Prefix...), nil, v), nil
}

// appendCBOR appends an object in the shape of the view. typed is false for items of built-in lists, which have no apiVersion
// and kind.
func appendCBOR(dst []byte, v *View, c *cbor.Object, typed bool) []byte {
	if v.Shape == Whole {
		return c.Append(dst, typed, v.Drop)
	}
	return c.AppendPartial(dst, v.partialType(), v.Drop)
}
