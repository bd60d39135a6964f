package codec

// A long list of whole objects is written piece by piece: the head, the objects with commas between
// them, and the tail.

// AppendListHead appends what comes before the objects of a list.
func AppendListHead(dst []byte, l List) []byte {
	dst = appendType(dst, l.Kind, l.APIVersion)
	dst = l.appendWholeMetadata(dst)
	return append(dst, `,"items":[`...)
}

// AppendItem appends an object of a list.
func AppendItem[O Object](dst []byte, v *View, l List, o O) []byte {
	start := len(dst)
	dst = appendJSON(dst, v.Drop, o)
	if l.TypedItems {
		return dst
	}
	return dst[:start+len(withoutType(dst[start:]))]
}

// AppendListTail appends what comes after the objects of a list.
func AppendListTail(dst []byte) []byte { return append(dst, "]}\n"...) }
