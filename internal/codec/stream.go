package codec

import (
	"iter"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// A long list is written piece by piece: the head, the objects and the tail, so that it need not be in memory as a
// whole.

// A Sink takes what has been appended so far, or leaves it there until there is more. It returns the buffer to go on
// with, and false if nobody wants the rest.
type Sink func(buffer []byte) (rest []byte, goOn bool)

// InPieces reports whether lists of a format can be written piece by piece.
func (f Format) InPieces() bool {
	return f.isPacked() && f.Shape != Partial || f.Media == JSON && f.Shape == Whole && !f.Pretty
}

// AppendInPieces appends the answer that is a list, and offers it to the sink after each object. What can fail fails
// before the first offer.
func AppendInPieces[O Object](dst []byte, v View, l List, objects iter.Seq[O], sink Sink) ([]byte, error) {
	switch v.Media {
	case Protobuf:
		return appendProtobufPieces(dst, &v, l, objects, sink)
	case CBOR:
		return appendCBORPieces(dst, &v, l, objects, sink)
	}
	return appendJSONPieces(dst, &v, l, objects, sink), nil
}

func appendJSONPieces[O Object](dst []byte, v *View, l List, objects iter.Seq[O], sink Sink) []byte {
	dst = appendListHead(dst, l)
	first, goOn := true, true
	for o := range objects {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, goOn = sink(appendItem(dst, v, l, o)); !goOn {
			return dst
		}
	}
	return append(dst, "]}\n"...)
}

// appendListHead appends what comes before the objects of a list.
func appendListHead(dst []byte, l List) []byte {
	dst = appendType(dst, l.Kind, l.APIVersion)
	dst = l.appendWholeMetadata(dst)
	return append(dst, `,"items":[`...)
}

// appendItem appends an object of a list.
func appendItem[O Object](dst []byte, v *View, l List, o O) []byte {
	start := len(dst)
	dst = appendJSON(dst, v.Drop, o)
	if l.TypedItems {
		return dst
	}
	return dst[:start+len(withoutType(dst[start:]))]
}

func appendProtobufPieces[O Object](dst []byte, v *View, l List, objects iter.Seq[O], sink Sink) ([]byte, error) {
	var all []packed.Object
	meta := packed.ListMeta{ResourceVersion: l.ResourceVersion, Continue: l.Continue, Remaining: l.Remaining}.AppendListMeta(nil)
	size := len(meta) // which the head tells
	for o := range objects {
		p, err := v.protobufOf(o)
		if err != nil {
			return dst, err
		}
		all = append(all, p)
		size += packed.ItemSize(v.itemSize(&p))
	}
	is, goOn := v.listType(l), true
	dst = append(is.AppendEnvelope(dst, size), meta...)
	for i := range all {
		if dst, goOn = sink(v.appendProtobufItem(dst, &all[i])); !goOn {
			return dst, nil
		}
	}
	return packed.AppendEnvelopeEnd(dst), nil
}

func (v *View) itemSize(p *packed.Object) int {
	if v.Shape == Whole {
		return p.Size(v.Drop)
	}
	return p.MetadataSize(v.Drop)
}

func (v *View) appendProtobufItem(dst []byte, p *packed.Object) []byte {
	dst = packed.AppendItemHead(dst, v.itemSize(p))
	if v.Shape == Whole {
		return p.Append(dst, v.Drop)
	}
	return p.AppendMetadata(dst, v.Drop)
}

// listType is what a list is.
func (v *View) listType(l List) packed.Type {
	if v.Shape == Whole {
		return packed.Type{APIVersion: l.APIVersion, Kind: l.Kind}
	}
	return packed.Type{APIVersion: v.Meta.APIVersion(), Kind: PartialList.String()}
}

func appendCBORPieces[O Object](dst []byte, v *View, l List, objects iter.Seq[O], sink Sink) ([]byte, error) {
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
	goOn := true
	dst = packed.AppendCBORListHead(dst, v.listType(l), meta.Get("metadata"), len(all))
	for _, c := range all {
		if dst, goOn = sink(v.appendCBOR(dst, c, l.TypedItems)); !goOn {
			return dst, nil
		}
	}
	return dst, nil
}
