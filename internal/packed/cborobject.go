package packed

import "github.com/cadastre/cadastre/document"

// CBORObject is an object in CBOR, whose type and managedFields can be left out:
//
//	{ apiVersion kind …before… metadata: { … ManagedFields … } …after… }
//
// A map says how many members it has, so that leaving one out is telling another number.
type CBORObject struct {
	is     Type
	fields int // without apiVersion and kind
	// before ends with the name of the metadata. It is empty if there is no metadata.
	before, metadata, after []byte
	metadataFields          int
	// managed is where in the metadata the managedFields are.
	managedStart, managedEnd int
}

// NewCBORObject returns an object in CBOR. The message is nil for kinds without Go types.
func NewCBORObject(m *Message, v document.Value) CBORObject {
	o := CBORObject{is: typeOf(v)}
	all := make([]byte, 0, v.JSONSize())
	start, end := 0, 0 // of what is in the metadata
	for name, value := range v.Fields() {
		if name == "apiVersion" || name == "kind" {
			continue
		}
		o.fields++
		if name != "metadata" || value.Kind() != document.Map {
			all = appendMember(all, m, name, value)
			continue
		}
		all = appendString(all, name)
		start = len(all)
		all = o.appendMetadataOf(all, value)
		end = len(all)
	}
	o.before, o.metadata, o.after = all[:start], all[start:end], all[end:]
	return o
}

// appendMetadataOf appends the fields of the metadata, and notes where its managedFields are.
func (o *CBORObject) appendMetadataOf(dst []byte, metadata document.Value) []byte {
	start := len(dst)
	for name, value := range metadata.Fields() {
		o.metadataFields++
		before := len(dst)
		dst = appendMember(dst, nil, name, value)
		if name == "managedFields" {
			o.managedStart, o.managedEnd = before-start, len(dst)-start
		}
	}
	return dst
}

// Memory returns about how much memory the object takes.
func (o *CBORObject) Memory() int { return cap(o.before) + 192 }

// Append appends the object, with its managedFields or without. In lists of built-in kinds objects have no
// type.
func (o *CBORObject) Append(dst []byte, typed, drop bool) []byte {
	fields := o.fields
	if typed {
		fields += 2
	}
	dst = appendHead(dst, cborMap, uint64(fields))
	if typed {
		dst = o.is.appendMembers(dst)
	}
	dst = append(dst, o.before...)
	if len(o.before) > 0 {
		dst = o.appendMetadata(dst, drop)
	}
	return append(dst, o.after...)
}

// AppendPartial appends an object of another type that has the metadata of this one, and nothing else.
func (o *CBORObject) AppendPartial(dst []byte, as Type, drop bool) []byte {
	dst = appendHead(dst, cborMap, 3)
	dst = as.appendMembers(dst)
	dst = appendString(dst, "metadata")
	return o.appendMetadata(dst, drop)
}

func (o *CBORObject) appendMetadata(dst []byte, drop bool) []byte {
	if !drop || o.managedStart == o.managedEnd {
		dst = appendHead(dst, cborMap, uint64(o.metadataFields))
		return append(dst, o.metadata...)
	}
	dst = appendHead(dst, cborMap, uint64(o.metadataFields-1))
	dst = append(dst, o.metadata[:o.managedStart]...)
	return append(dst, o.metadata[o.managedEnd:]...)
}

func (t Type) appendMembers(dst []byte) []byte {
	dst = appendString(dst, "apiVersion")
	dst = appendString(dst, t.APIVersion)
	dst = appendString(dst, "kind")
	return appendString(dst, t.Kind)
}

// AppendCBORListHead appends what comes before the items of a list.
func AppendCBORListHead(dst []byte, is Type, metadata document.Value, items int) []byte {
	dst = append(dst, CBORPrefix...)
	dst = appendHead(dst, cborMap, 4)
	dst = is.appendMembers(dst)
	dst = appendMember(dst, nil, "metadata", metadata)
	dst = appendString(dst, "items")
	return appendHead(dst, cborList, uint64(items))
}

// AppendCBOREventHead appends what comes before the object of a watch's event.
func AppendCBOREventHead(dst []byte, event string) []byte {
	dst = append(dst, CBORPrefix...)
	dst = appendHead(dst, cborMap, 2)
	dst = appendString(dst, "type")
	dst = appendString(dst, event)
	return appendString(dst, "object")
}
