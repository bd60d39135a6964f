package codec

import (
	"errors"
	"iter"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// isPacked reports whether answers are written in a binary encoding, which objects have of themselves. There
// are no tables in one.
func (f Format) isPacked() bool { return f.Media == Protobuf || f.Media == CBOR }

// partialType is what an object is of which only the metadata is left.
func (v *View) partialType() packed.Type {
	return packed.Type{APIVersion: v.Meta.APIVersion(), Kind: Partial.String()}
}

// appendPacked appends an object as an answer.
func (v *View) appendPacked(dst []byte, o Object) ([]byte, error) {
	if v.Media == CBOR {
		c, err := cborOf(o)
		if err != nil {
			return dst, err
		}
		return v.appendCBOR(append(dst, packed.CBORPrefix...), c, true), nil
	}
	p, err := protobufOf(o)
	switch {
	case err != nil:
		return dst, noProtobuf(err)
	case v.Shape == Partial:
		return p.AppendPartialAnswer(dst, v.partialType(), v.Drop), nil
	}
	return p.AppendAnswer(dst, v.Drop), nil
}

func (v *View) appendCBOR(dst []byte, c *packed.CBORObject, typed bool) []byte {
	if v.Shape == Whole {
		return c.Append(dst, typed, v.Drop)
	}
	return c.AppendPartial(dst, v.partialType(), v.Drop)
}

// protobufOf returns an object in protobuf.
func protobufOf(o Object) (packed.Object, error) {
	if p, ok := o.(Packer); ok {
		return p.Protobuf()
	}
	doc, err := document.ParseJSONLimited(o.AppendJSON(nil), anySize)
	if err != nil {
		return packed.Object{}, err
	}
	return packed.Protobuf(doc)
}

// cborOf returns an object in CBOR.
func cborOf(o Object) (*packed.CBORObject, error) {
	if p, ok := o.(Packer); ok {
		return p.CBOR()
	}
	doc, err := document.ParseJSONLimited(o.AppendJSON(nil), anySize)
	if err != nil {
		return nil, err
	}
	return packed.CBOR(doc)
}

// noProtobuf is the error for what protobuf does not have.
func noProtobuf(err error) error {
	if none := (*packed.NoTypeError)(nil); errors.As(err, &none) {
		return notAcceptableError(none.Error())
	}
	return err
}

// appendPackedList appends a list of whole objects, or of their metadata.
func appendPackedList[O Object](dst []byte, v *View, l List, objects iter.Seq[O]) ([]byte, error) {
	if v.Media == CBOR {
		return appendCBORList(dst, v, l, objects)
	}
	var all []packed.Object
	meta := packed.ListMeta{ResourceVersion: l.ResourceVersion, Continue: l.Continue, Remaining: l.Remaining}.AppendListMeta(nil)
	size := len(meta)
	for o := range objects {
		p, err := protobufOf(o)
		if err != nil {
			return dst, noProtobuf(err)
		}
		all = append(all, p)
		size += packed.ItemSize(v.itemSize(p))
	}
	is := v.listType(l)
	dst = append(is.AppendEnvelope(dst, size), meta...)
	for _, p := range all {
		dst = packed.AppendItemHead(dst, v.itemSize(p))
		if v.Shape == Whole {
			dst = p.Append(dst, v.Drop)
		} else {
			dst = p.AppendMetadata(dst, v.Drop)
		}
	}
	return packed.AppendEnvelopeEnd(dst), nil
}

func (v *View) itemSize(p packed.Object) int {
	if v.Shape == Whole {
		return p.Size(v.Drop)
	}
	return p.MetadataSize(v.Drop)
}

// listType is what a list is.
func (v *View) listType(l List) packed.Type {
	if v.Shape == Whole {
		return packed.Type{APIVersion: l.APIVersion, Kind: l.Kind}
	}
	return packed.Type{APIVersion: v.Meta.APIVersion(), Kind: PartialList.String()}
}

func appendCBORList[O Object](dst []byte, v *View, l List, objects iter.Seq[O]) ([]byte, error) {
	var all []*packed.CBORObject
	for o := range objects {
		c, err := cborOf(o)
		if err != nil {
			return dst, err
		}
		all = append(all, c)
	}
	meta, err := document.ParseJSON(append(l.appendMetadata([]byte(`{"":0`)), '}'))
	if err != nil {
		return dst, err
	}
	dst = packed.AppendCBORListHead(dst, v.listType(l), meta.Get("metadata"), len(all))
	for _, c := range all {
		dst = v.appendCBOR(dst, c, l.TypedItems)
	}
	return dst, nil
}

// appendPacked appends an event.
func (e *Events) appendPacked(dst []byte, event string, o Object) ([]byte, error) {
	v := &e.view
	if v.Media == CBOR {
		c, err := cborOf(o)
		if err != nil {
			return dst, err
		}
		return v.appendCBOR(packed.AppendCBOREventHead(dst, event), c, true), nil
	}
	p, err := protobufOf(o)
	if err != nil {
		return dst, noProtobuf(err)
	}
	if v.Shape == Partial {
		is := v.partialType()
		dst = packed.AppendEventHead(dst, event, is.EnvelopeSize(p.MetadataSize(v.Drop)))
		return p.AppendPartialAnswer(dst, is, v.Drop), nil
	}
	dst = packed.AppendEventHead(dst, event, p.Type().EnvelopeSize(p.Size(v.Drop)))
	return p.AppendAnswer(dst, v.Drop), nil
}
