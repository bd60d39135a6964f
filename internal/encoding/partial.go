package encoding

import "github.com/cadastre/cadastre/document"

// appendPartial appends the PartialObjectMetadata of an object as JSON. It appends the whole object, and then reduces the
// appended text to the object's metadata in place.
func (v *View) appendPartial(dst []byte, o Object) []byte {
	dst = appendTypeOf(dst, Partial, v.Meta)
	dst = append(dst, `,"metadata":`...)
	start := len(dst)
	dst = appendJSON(dst, v.Drop, o)
	dst = append(dst[:start], metadataOf(dst[start:])...)
	return append(dst, '}')
}

// appendPartialOf appends a PartialObjectMetadata that contains the metadata.
func appendPartialOf(dst []byte, meta MetaVersion, metadata []byte) []byte {
	dst = appendTypeOf(dst, Partial, meta)
	dst = append(dst, `,"metadata":`...)
	dst = append(dst, metadata...)
	return append(dst, '}')
}

// appendTypeOf appends the opening brace, the kind and the apiVersion of a response in the given shape.
func appendTypeOf(dst []byte, shape Shape, meta MetaVersion) []byte {
	return appendType(dst, shape.String(), meta.APIVersion())
}

func appendType(dst []byte, kind, apiVersion string) []byte {
	dst = append(dst, `{"kind":`...)
	dst = document.AppendString(dst, kind)
	dst = append(dst, `,"apiVersion":`...)
	return document.AppendString(dst, apiVersion)
}
