package encoding

import (
	"errors"
	"iter"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

// Protobuf is the protobuf encoding of Kubernetes. It is defined by Go types, so custom resources can be encoded only as
// PartialObjectMetadata.
var Protobuf = &Encoding{
	MediaType:    "application/vnd.kubernetes.protobuf",
	StreamType:   "application/vnd.kubernetes.protobuf;stream=watch",
	NeedsGoType:  true,
	BytesPerByte: 60,
	Serializer:   protobufSerializer{},
}

// protobufForm is the cached form of the whole object; protobufMetadataForm holds only the metadata, for kinds without a Go
// type.
var (
	protobufForm         = newForm(protobuf.Encode, protobuf.Object.Memory)
	protobufMetadataForm = newForm(protobuf.EncodeMetadata, protobuf.Object.Memory)
)

// protobufSerializer writes objects and lists in an envelope that contains their type. Watch events are prefixed with their
// length.
type protobufSerializer struct{}

func (protobufSerializer) Decode(body string, defaults schema.GroupVersionKind) (string, error) {
	text, err := protobuf.Decode([]byte(body), defaults)
	return string(text), err
}

func (protobufSerializer) AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	p, err := encodeProtobuf(&v, o)
	switch {
	case err != nil:
		return dst, err
	case v.Shape == Partial:
		return p.AppendPartial(dst, v.partialType(), v.Drop), nil
	}
	return p.AppendWhole(dst, v.Drop), nil
}

func (protobufSerializer) AppendList(dst []byte, v View, l List, objects iter.Seq[Object], sink Sink) ([]byte, error) {
	var all []protobuf.Object
	meta := protobuf.ListMeta{ResourceVersion: l.ResourceVersion, Continue: l.Continue, Remaining: l.Remaining}.AppendListMeta(nil)
	size := len(meta) // the size of the list, which the envelope states before the objects
	for o := range objects {
		p, err := encodeProtobuf(&v, o)
		if err != nil {
			return dst, err
		}
		all = append(all, p)
		size += protobuf.ItemSize(protobufItemSize(&v, &p))
	}
	dst = append(v.listType(&l).AppendEnvelope(dst, size), meta...)
	for i := range all {
		dst = appendProtobufItem(dst, &v, &all[i])
		more := true
		if sink != nil {
			dst, more = sink(dst)
		}
		if !more {
			return dst, nil
		}
	}
	return protobuf.AppendEnvelopeEnd(dst), nil
}

func protobufItemSize(v *View, p *protobuf.Object) int {
	if v.Shape == Whole {
		return p.Size(v.Drop)
	}
	return p.MetadataSize(v.Drop)
}

func appendProtobufItem(dst []byte, v *View, p *protobuf.Object) []byte {
	dst = protobuf.AppendItemHead(dst, protobufItemSize(v, p))
	if v.Shape == Whole {
		return p.Append(dst, v.Drop)
	}
	return p.AppendMetadata(dst, v.Drop)
}

func (protobufSerializer) AppendEvent(dst []byte, v View, eventType string, o Object) ([]byte, error) {
	p, err := encodeProtobuf(&v, o)
	if err != nil {
		return dst, err
	}
	if v.Shape == Partial {
		t := v.partialType()
		dst = protobuf.AppendEventHead(dst, eventType, t.EnvelopeSize(p.MetadataSize(v.Drop)))
		return p.AppendPartial(dst, t, v.Drop), nil
	}
	dst = protobuf.AppendEventHead(dst, eventType, p.Type().EnvelopeSize(p.Size(v.Drop)))
	return p.AppendWhole(dst, v.Drop), nil
}

func (protobufSerializer) AppendTyped(dst []byte, _ Format, object runtime.Object) ([]byte, error) {
	return protobuf.AppendTyped(dst, object)
}

// encodeProtobuf returns an object in protobuf. For kinds without a Go type, only PartialObjectMetadata is supported; for
// other shapes it returns an error with status 406.
func encodeProtobuf(v *View, o Object) (protobuf.Object, error) {
	p, err := protobufForm.encoding(o)
	if err == nil { // the usual case comes first, because the code below allocates
		return p, nil
	}
	noType := (*protobuf.NoTypeError)(nil)
	switch {
	case !errors.As(err, &noType):
		return p, err
	case v.Shape != Whole:
		return protobufMetadataForm.encoding(o)
	}
	return p, notAcceptableError(noType.Error())
}

// partialType returns the type of a PartialObjectMetadata in the version of the view.
func (v *View) partialType() protobuf.Type {
	return protobuf.Type{APIVersion: v.Meta.APIVersion(), Kind: Partial.String()}
}

// listType returns the type of a list response in the shape of the view.
func (v *View) listType(l *List) protobuf.Type {
	if v.Shape == Whole {
		return protobuf.Type{APIVersion: l.APIVersion, Kind: l.Kind}
	}
	return protobuf.Type{APIVersion: v.Meta.APIVersion(), Kind: PartialList.String()}
}
