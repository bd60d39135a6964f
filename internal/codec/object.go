package codec

import (
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// Object is what answers are made of.
type Object interface {
	// AppendJSON appends the object as compact JSON, at the version that the client asked for.
	AppendJSON(dst []byte) []byte
	// JSONSize returns about how many bytes that is.
	JSONSize() int
}

// Documented is an Object that has itself parsed, at the version at which it is stored: that is
// the one that columns of tables are defined for. Its metadata may lack the resourceVersion. Other
// objects are parsed when they become rows.
type Documented interface {
	Object
	Document() document.Value
}

// Text is an Object that is JSON already.
type Text []byte

// AppendJSON appends the text.
func (t Text) AppendJSON(dst []byte) []byte { return append(dst, t...) }

// JSONSize returns how long it is.
func (t Text) JSONSize() int { return len(t) }

// Packer is an Object that has itself in binary encodings.
type Packer interface {
	// Protobuf fails with a *packed.NoTypeError for kinds that have none. All have ProtobufMetadata, which is enough for
	// shapes that have nothing else.
	Protobuf() (packed.Object, error)
	ProtobufMetadata() (packed.Object, error)
	CBOR() (*packed.CBORObject, error)
}

// Dropper is an Object that has managedFields, and can leave them out.
type Dropper interface {
	AppendJSONWithoutManagedFields(dst []byte) []byte
}

// View is what an answer depends on besides the objects.
type View struct {
	Format
	// Columns, Include and Now are for tables: the columns, what rows have of their object, and
	// the time that ages are relative to.
	Columns *Columns
	Include Include
	Now     time.Time
}

// FitsObject fails if an object can't have the shape that was asked for: who is to write one asks before.
func (f Format) FitsObject() error {
	if f.Shape == PartialList {
		return notAcceptableError("you requested PartialObjectMetadataList, but the requested object is not a list")
	}
	return nil
}

// AppendObject appends the answer that is one object.
func AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	if err := v.FitsObject(); err != nil {
		return dst, err
	}
	if v.isPacked() {
		return v.appendPacked(dst, o)
	}
	return v.finish(dst, func(dst []byte) []byte { return appendShaped(dst, &v, o, false) })
}

// appendJSON appends an object as it is, or without managedFields.
func appendJSON[O Object](dst []byte, drop bool, o O) []byte {
	if drop {
		if d, ok := any(o).(Dropper); ok {
			return d.AppendJSONWithoutManagedFields(dst)
		}
	}
	return o.AppendJSON(dst)
}

// appendShaped appends an object in the shape of a view.
func appendShaped(dst []byte, v *View, o Object, noHeaders bool) []byte {
	switch v.Shape {
	case Table:
		return appendObjectTable(dst, v, o, noHeaders)
	case Partial:
		return v.appendPartial(dst, o)
	}
	return appendJSON(dst, v.Drop, o)
}
