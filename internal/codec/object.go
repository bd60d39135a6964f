package codec

import (
	"time"

	"github.com/cadastre/cadastre/document"
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

// View is what an answer depends on besides the objects.
type View struct {
	Format
	// Columns, Include and Now are for tables: the columns, what rows have of their object, and
	// the time that ages are relative to.
	Columns *Columns
	Include Include
	Now     time.Time
}

// AppendObject appends the answer that is one object.
func AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	if v.Shape == PartialList {
		return dst, notAcceptableError("you requested PartialObjectMetadataList, but the requested object is not a list")
	}
	return v.finish(dst, func(dst []byte) []byte { return appendShaped(dst, &v, o, false) })
}

// appendShaped appends an object in the shape of a view.
func appendShaped(dst []byte, v *View, o Object, noHeaders bool) []byte {
	switch v.Shape {
	case Table:
		return appendObjectTable(dst, v, o, noHeaders)
	case Partial:
		return appendPartial(dst, v.Meta, o)
	}
	return o.AppendJSON(dst)
}
