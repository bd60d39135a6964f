package codec

import (
	"iter"
	"slices"
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// List is what a list has besides its objects.
type List struct {
	// Kind is that of the list, such as DeploymentList, and APIVersion that of its objects.
	Kind, APIVersion string
	// ResourceVersion is the revision that was listed.
	ResourceVersion int64
	// Continue is where the next page starts; "" on the last one.
	Continue string
	// Remaining is how many objects are on later pages, as far as that is known: 0 if not.
	Remaining int
	// TypedItems have apiVersion and kind. Lists of custom resources do; those of built-in kinds
	// leave them to the list.
	TypedItems bool
}

// FitsList fails if a list of a kind can't have the shape that was asked for.
func (f Format) FitsList(kind string) error {
	if f.Shape == Partial {
		return notAcceptableError("you requested PartialObjectMetadata, but the requested object is a list (" + kind + ")")
	}
	return nil
}

// AppendList appends the answer that is a list. The objects are gone through twice.
func AppendList[O Object](dst []byte, v View, l List, objects iter.Seq[O]) ([]byte, error) {
	if err := v.FitsList(l.Kind); err != nil {
		return dst, err
	}
	switch {
	case v.InPieces():
		return AppendInPieces(slices.Grow(dst, listSize(l, objects)), v, l, objects, keepAll)
	case v.Shape == PartialList:
		return v.finish(dst, func(dst []byte) []byte { return appendPartialList(dst, &v, l, objects) })
	case v.Shape == Table:
		return v.finish(dst, func(dst []byte) []byte { return AppendTable(dst, v, l, objects) })
	}
	return v.finish(dst, func(dst []byte) []byte { return appendWholeList(dst, &v, l, objects) })
}

// keepAll is the sink of lists that are wanted as a whole.
func keepAll(list []byte) ([]byte, bool) { return list, true }

// appendWholeList is for formats that are made of JSON.
func appendWholeList[O Object](dst []byte, v *View, l List, objects iter.Seq[O]) []byte {
	dst = appendJSONPieces(slices.Grow(dst, listSize(l, objects)), v, l, objects, keepAll)
	return dst[:len(dst)-1] // the line break is not the list's
}

func appendPartialList[O Object](dst []byte, v *View, l List, objects iter.Seq[O]) []byte {
	dst = appendTypeOf(dst, PartialList, v.Meta)
	dst = l.appendMetadata(dst)
	dst = append(dst, `,"items":[`...)
	before := len(dst)
	for o := range objects {
		if len(dst) > before {
			dst = append(dst, ',')
		}
		dst = v.appendPartial(dst, o)
	}
	return append(dst, "]}"...)
}

// listSize returns about how long a list is.
func listSize[O Object](l List, objects iter.Seq[O]) int {
	const envelope = 256
	size := envelope + len(l.Continue)
	for o := range objects {
		size += o.JSONSize() + 1
	}
	return size
}

// appendMetadata appends the list's metadata as a member.
func (l *List) appendMetadata(dst []byte) []byte {
	dst = append(dst, `,"metadata":{`...)
	before := len(dst)
	if l.ResourceVersion != 0 {
		dst = append(dst, `"resourceVersion":"`...)
		dst = strconv.AppendInt(dst, l.ResourceVersion, 10)
		dst = append(dst, '"')
	}
	if l.Continue != "" {
		dst = appendComma(dst, before)
		dst = append(dst, `"continue":`...)
		dst = document.AppendString(dst, l.Continue)
	}
	if l.Remaining > 0 {
		dst = appendComma(dst, before)
		dst = append(dst, `"remainingItemCount":`...)
		dst = strconv.AppendInt(dst, int64(l.Remaining), 10)
	}
	return append(dst, '}')
}

// appendWholeMetadata does the same for a list of whole objects. One of custom resources always says where the next
// page starts.
func (l *List) appendWholeMetadata(dst []byte) []byte {
	dst = l.appendMetadata(dst)
	if !l.TypedItems || l.Continue != "" {
		return dst
	}
	dst = dst[:len(dst)-1]
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, `"continue":""}`...)
}

// appendComma appends a comma if something has been appended since before.
func appendComma(dst []byte, before int) []byte {
	if len(dst) > before {
		return append(dst, ',')
	}
	return dst
}
