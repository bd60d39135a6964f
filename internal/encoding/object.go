package encoding

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// Object is an API object in a response.
type Object interface {
	// AppendJSON appends the object as compact JSON, at the API version of the request.
	AppendJSON(dst []byte) []byte
	// JSONSize returns the approximate number of bytes that AppendJSON appends.
	JSONSize() int
}

// Documented is an Object that is already parsed, at its storage version, for which the columns of Tables are defined. The
// metadata of the document may lack the resourceVersion. Objects that are not Documented are parsed when they become rows of
// a Table.
type Documented interface {
	Object
	Document() document.Value
}

// Dropper is an Object that can append its JSON without managedFields.
type Dropper interface {
	AppendJSONWithoutManagedFields(dst []byte) []byte
}

// Text is an Object that consists of JSON text.
type Text []byte

// AppendJSON appends the text.
func (t Text) AppendJSON(dst []byte) []byte { return append(dst, t...) }

// JSONSize returns the length of the text.
func (t Text) JSONSize() int { return len(t) }

// View describes how objects are represented in a response: its format, and the parameters of a Table.
type View struct {
	Format
	// Columns are the columns of a Table, Include is the part of the object that its rows contain, and Now is the time to
	// which ages refer.
	Columns *Columns
	Include Include
	Now     time.Time
	// NoHeaders omits the column definitions of a Table: in a watch only the first event contains them.
	NoHeaders bool
}

// FitsObject returns an error with status 406 if the format supports only lists. Writes call it before they change anything.
func (f Format) FitsObject() error {
	if f.Shape == PartialList {
		return notAcceptableError("you requested PartialObjectMetadataList, but the requested object is not a list")
	}
	return nil
}

// AppendObject appends the response body for an object, in the format of the view.
func AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	if err := v.FitsObject(); err != nil {
		return dst, err
	}
	return v.encoding().AppendObject(dst, v, o)
}

// appendJSON appends a whole object as JSON, without its managedFields if drop is set.
func appendJSON(dst []byte, drop bool, o Object) []byte {
	if drop {
		if d, ok := o.(Dropper); ok {
			return d.AppendJSONWithoutManagedFields(dst)
		}
	}
	return o.AppendJSON(dst)
}

// appendShaped appends an object as JSON, in the shape of the view.
func appendShaped(dst []byte, v *View, o Object) []byte {
	switch v.Shape {
	case Table:
		return appendObjectTable(dst, v, o)
	case Partial:
		return v.appendPartial(dst, o)
	}
	return appendJSON(dst, v.Drop, o)
}
