package encoding

import (
	"iter"
	"slices"
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// List holds the type and the metadata of a list response.
type List struct {
	// Kind is the kind of the list, such as DeploymentList; APIVersion is the apiVersion of the list and its objects.
	Kind, APIVersion string
	// ResourceVersion is the revision at which the objects were listed.
	ResourceVersion int64
	// Continue is the continue token of the next page; "" on the last page.
	Continue string
	// Remaining is the remainingItemCount of the list; 0 if it is unknown.
	Remaining int
	// TypedItems reports whether the items have apiVersion and kind. Items of custom resources have them; items of built-in
	// kinds do not.
	TypedItems bool
}

// FitsList returns an error with status 406 if the format supports only single objects. The error names kind, the kind of the
// list.
func (f Format) FitsList(kind string) error {
	if f.Shape == Partial {
		return notAcceptableError("you requested PartialObjectMetadata, but the requested object is a list (" + kind + ")")
	}
	return nil
}

// Seq returns an iterator over the objects of a slice.
func Seq[O Object](objects []O) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for _, o := range objects {
			if !yield(o) {
				return
			}
		}
	}
}

// AppendList appends the response body for a list. If sink is not nil and the list can be written in chunks, AppendList calls
// sink after each object and returns the bytes that sink has not consumed. It returns an error only before the first call of
// sink.
func AppendList(dst []byte, v View, l List, objects iter.Seq[Object], sink Sink) ([]byte, error) {
	if err := v.FitsList(l.Kind); err != nil {
		return dst, err
	}
	return v.encoding().AppendList(dst, v, l, objects, sink)
}

// appendShapedList appends a list as JSON, in the shape of the view.
func appendShapedList(dst []byte, v *View, l *List, objects iter.Seq[Object]) []byte {
	switch v.Shape {
	case PartialList:
		return appendPartialList(dst, v, l, objects)
	case Table:
		return appendTable(dst, v, l, objects)
	}
	dst, _ = appendItems(slices.Grow(dst, listSize(l, objects)), v, l, objects, nil)
	return dst
}

// appendItems appends a list of whole objects as JSON. more is false if sink returned false, after which nothing more is
// appended.
func appendItems(dst []byte, v *View, l *List, objects iter.Seq[Object], sink Sink) (_ []byte, more bool) {
	dst = appendType(dst, l.Kind, l.APIVersion)
	dst = l.appendWholeMetadata(dst)
	dst = append(dst, `,"items":[`...)
	first, more := true, true
	for o := range objects {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst = appendItem(dst, v, l, o); sink == nil {
			continue
		}
		if dst, more = sink(dst); !more {
			return dst, false
		}
	}
	return append(dst, "]}"...), true
}

// appendItem appends an item of a list of whole objects.
func appendItem(dst []byte, v *View, l *List, o Object) []byte {
	start := len(dst)
	dst = appendJSON(dst, v.Drop, o)
	if l.TypedItems {
		return dst
	}
	return dst[:start+len(withoutType(dst[start:]))]
}

func appendPartialList(dst []byte, v *View, l *List, objects iter.Seq[Object]) []byte {
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

// listSize returns the approximate size in bytes of a list of whole objects as JSON.
func listSize(l *List, objects iter.Seq[Object]) int {
	const envelope = 256
	size := envelope + len(l.Continue)
	for o := range objects {
		size += o.JSONSize() + 1
	}
	return size
}

// appendMetadata appends the list's metadata as a member of a JSON object.
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

// appendWholeMetadata appends the metadata of a list of whole objects. As in Kubernetes, lists of custom resources contain
// continue even if it is empty.
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

// appendComma appends a comma if dst is longer than start, that is, if a member of the object has been appended since dst had
// the length start.
func appendComma(dst []byte, start int) []byte {
	if len(dst) > start {
		return append(dst, ',')
	}
	return dst
}
