package encoding

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"unsafe"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Include is the part of the object that a row of a Table contains.
type Include uint8

// The values of the query parameter includeObject.
const (
	IncludeMetadata Include = iota
	IncludeObject
	IncludeNone
)

// ParseInclude parses the value of the query parameter includeObject. It returns a BadRequest error for an unknown value.
func ParseInclude(s string) (Include, error) {
	switch s {
	case "", "Metadata":
		return IncludeMetadata, nil
	case "Object":
		return IncludeObject, nil
	case "None":
		return IncludeNone, nil
	}
	return 0, apierrors.NewBadRequest(fmt.Sprintf(
		"Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", s))
}

// appendTable appends a Table as JSON with one row per object of a list.
func appendTable(dst []byte, v *View, l *List, objects iter.Seq[Object]) []byte {
	w := tableWriters.Get().(*tableWriter)
	defer w.release()
	dst = appendTypeOf(dst, Table, v.Meta)
	dst = l.appendMetadata(dst)
	dst = v.Columns.appendHeader(dst, false)
	dst = append(dst, `,"rows":`...)
	if v.Columns.order != nil {
		objects = sorted(v, w, objects)
	}
	start := len(dst)
	for o := range objects {
		if len(dst) > start {
			dst = append(dst, ',')
		} else {
			dst = append(dst, '[')
		}
		w.read(v, o)
		dst = w.appendRow(dst, v)
	}
	switch {
	case len(dst) > start:
		dst = append(dst, ']')
	case v.Columns.nullRows:
		dst = append(dst, "null"...)
	default:
		dst = append(dst, "[]"...)
	}
	return append(dst, '}')
}

// appendObjectTable appends a Table as JSON with the row of a single object, and the object's resourceVersion.
func appendObjectTable(dst []byte, v *View, o Object) []byte {
	w := tableWriters.Get().(*tableWriter)
	defer w.release()
	w.read(v, o)
	dst = appendTypeOf(dst, Table, v.Meta)
	dst = append(dst, `,"metadata":{`...)
	if version, ok := findMember(w.metadata, "resourceVersion"); ok {
		dst = append(dst, w.metadata[version.start:version.end]...)
	}
	dst = append(dst, '}')
	dst = v.Columns.appendHeader(dst, v.NoHeaders)
	dst = append(dst, `,"rows":[`...)
	dst = w.appendRow(dst, v)
	return append(dst, "]}"...)
}

// appendHeader appends the column definitions as a member of a JSON object; null if without is set.
func (c *Columns) appendHeader(dst []byte, without bool) []byte {
	dst = append(dst, `,"columnDefinitions":`...)
	if without {
		return append(dst, "null"...)
	}
	return append(dst, c.header...)
}

// sortKey determines the order of the rows of a Table: by number, then by name.
type sortKey struct {
	number int64
	name   string
}

// sorted returns objects in the row order that the columns of v define.
func sorted(v *View, w *tableWriter, objects iter.Seq[Object]) iter.Seq[Object] {
	type placed struct {
		object Object
		sortKey
	}
	var all []placed
	for o := range objects {
		w.read(v, o)
		at := v.Columns.order(&w.row)
		at.name = strings.Clone(at.name) // cloned, because the next object overwrites the text
		all = append(all, placed{o, at})
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	return func(yield func(Object) bool) {
		for _, p := range all {
			if !yield(p.object) {
				return
			}
		}
	}
}

// tableWriter holds reusable memory for encoding rows. It is pooled.
type tableWriter struct {
	// text is the JSON of the row's object; metadata is the part of it with the metadata.
	text, metadata []byte
	reader         fastdoc.Reader
	row            row
}

var tableWriters = sync.Pool{New: func() any { return new(tableWriter) }}

// release drops all references to objects and returns the writer to the pool.
func (w *tableWriter) release() {
	const maximum = 1 << 20
	w.dropObject()
	if cap(w.text) <= maximum {
		tableWriters.Put(w)
	}
}

// dropObject drops the references to the object of the previous row.
func (w *tableWriter) dropObject() {
	w.row, w.metadata = row{}, nil
	w.reader.Reset()
}

// read parses o, the object of the next row. If o cannot be parsed, the object of the row is null.
func (w *tableWriter) read(v *View, o Object) {
	w.dropObject()
	w.text = appendJSON(w.text[:0], v.Drop, o)
	w.metadata = metadataOf(w.text)
	if d, ok := o.(Documented); ok {
		w.row.object = d.Document()
		return
	}
	// The document shares the memory of w.text. This is safe because dropObject releases the document before w.text is
	// overwritten.
	text := unsafe.String(unsafe.SliceData(w.text), len(w.text))
	object, err := w.reader.ParseJSON(text, noLimit, document.Value{}, "metadata", "managedFields")
	if err != nil {
		object = document.NewNull()
	}
	w.row.object = object
}

// appendRow appends the row of the object that read has parsed, as JSON.
func (w *tableWriter) appendRow(dst []byte, v *View) []byte {
	w.row.now = v.Now
	dst = append(dst, `{"cells":[`...)
	for i, cell := range v.Columns.cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = cell(dst, &w.row)
	}
	dst = append(dst, ']')
	dst = v.Columns.appendConditions(dst, &w.row)
	dst = append(dst, `,"object":`...)
	switch {
	case v.Include == IncludeObject:
		dst = append(dst, w.text...)
	case v.Include == IncludeNone && !endsInitialState(w.row.object):
		dst = append(dst, "null"...)
	default:
		dst = appendPartialOf(dst, v.Meta, w.metadata)
	}
	return append(dst, '}')
}

// endsInitialState reports whether an object is the bookmark that ends the initial events of a watch. Its row always includes
// the metadata, because clients depend on its annotation.
func endsInitialState(object document.Value) bool {
	return text(object.Lookup("metadata", "annotations", metav1.InitialEventsAnnotationKey)) == "true"
}

// appendConditions appends the conditions of a row as a member of a JSON object; nothing if there are none.
func (c *Columns) appendConditions(dst []byte, r *row) []byte {
	for _, completed := range c.completed {
		if text(r.at(completed.path)) != completed.value {
			continue
		}
		dst = append(dst, `,"conditions":[{"type":"Completed","status":"True","reason":`...)
		dst = document.AppendString(dst, completed.value)
		dst = append(dst, `,"message":`...)
		dst = document.AppendString(dst, completed.message)
		return append(dst, "}]"...)
	}
	return dst
}
