package codec

import (
	"errors"

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
	p, err := v.protobufOf(o)
	switch {
	case err != nil:
		return dst, err
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

// protobufOf returns an object in protobuf, or at least its metadata if the view has nothing else.
func (v *View) protobufOf(o Object) (packed.Object, error) {
	p, ok := o.(Packer)
	if !ok {
		doc, err := document.ParseJSONLimited(o.AppendJSON(nil), anySize)
		if err != nil {
			return packed.Object{}, err
		}
		p = parsed{doc}
	}
	whole, err := p.Protobuf()
	if v.Shape != Whole && isWithoutType(err) {
		return p.ProtobufMetadata()
	}
	return whole, noProtobuf(err)
}

// parsed is an object that keeps nothing.
type parsed struct{ document.Value }

func (p parsed) Protobuf() (packed.Object, error)         { return packed.Protobuf(p.Value) }
func (p parsed) ProtobufMetadata() (packed.Object, error) { return packed.ProtobufMetadata(p.Value) }
func (p parsed) CBOR() (*packed.CBORObject, error)        { return packed.CBOR(p.Value) }

// isWithoutType reports whether a kind has no protobuf.
func isWithoutType(err error) bool {
	if err == nil { // nearly always, and what is to be found takes memory
		return false
	}
	none := (*packed.NoTypeError)(nil)
	return errors.As(err, &none)
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
	if err == nil {
		return nil
	}
	if none := (*packed.NoTypeError)(nil); errors.As(err, &none) {
		return notAcceptableError(none.Error())
	}
	return err
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
	p, err := v.protobufOf(o)
	if err != nil {
		return dst, err
	}
	if v.Shape == Partial {
		is := v.partialType()
		dst = packed.AppendEventHead(dst, event, is.EnvelopeSize(p.MetadataSize(v.Drop)))
		return p.AppendPartialAnswer(dst, is, v.Drop), nil
	}
	dst = packed.AppendEventHead(dst, event, p.Type().EnvelopeSize(p.Size(v.Drop)))
	return p.AppendAnswer(dst, v.Drop), nil
}
