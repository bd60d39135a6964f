package strategic

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// The functions of this file read and write JSON. They do not return documents, so the next call can reuse all
// intermediate memory. Parts that are equal in several texts are parsed only once.

// AppendDiff is [Diff] for JSON: it parses original and modified and appends the patch to dst.
func AppendDiff(dst []byte, original, modified string, t *Type) ([]byte, error) {
	d := newTextDiffer()
	before, err := d.read("original", original, document.Value{})
	if err != nil {
		return dst, err
	}
	after, err := d.read("modified", modified, before)
	if err != nil {
		return dst, err
	}
	patch, err := d.diffRoot(t, versions{before, before, after})
	if err != nil {
		return dst, err
	}
	return d.finish(dst, patch), nil
}

// AppendDiff is [ThreeWay.Diff] for JSON: it parses its arguments and appends the patch to dst. An empty original means
// that there is no last applied configuration.
func (t ThreeWay) AppendDiff(dst []byte, original, modified, current string) ([]byte, error) {
	d := newTextDiffer()
	var before document.Value
	var err error
	if original != "" {
		if before, err = d.read("original", original, document.Value{}); err != nil {
			return dst, err
		}
	}
	after, err := d.read("modified", modified, before)
	if err != nil {
		return dst, err
	}
	now, err := d.readLive(current, before, after)
	if err != nil {
		return dst, err
	}
	patch, err := t.diff(&d.differ, versions{before, now, after})
	if err != nil {
		return dst, err
	}
	return d.finish(dst, patch), nil
}

// AppendMerge is [Merge] for JSON: it parses object and patch and appends the patched object to dst. A fieldsV1 as
// Kubernetes writes it is copied unchanged, unless the patch contains managedFields.
func AppendMerge(dst []byte, object, patch string, t *Type) ([]byte, error) {
	m := newTextMerger()
	change, err := m.read("patch", patch, document.Value{})
	if err != nil {
		return dst, err
	}
	live, err := m.readLive(object, change, change)
	if err != nil {
		return dst, err
	}
	result, err := m.merge(t, live, change)
	if err != nil {
		return dst, err
	}
	return m.finish(dst, result), nil
}

// textReader parses JSON into memory that is reused by later calls.
type textReader struct{ reader fastdoc.Reader }

// read parses text to a document; what names the document in errors. The result shares the lists and maps that are
// equal in the document similar, which may be absent. Lists and maps at the path unparsed stay unparsed.
func (r *textReader) read(what, text string, similar document.Value, unparsed ...string) (document.Value, error) {
	v, err := r.reader.ParseJSON(text, document.Limits{}, similar, unparsed...)
	if err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// readLive parses the live object and shares equal parts with the document similar. If neither similar nor other
// mentions managedFields, the fieldsV1 of the object are not parsed.
func (r *textReader) readLive(text string, similar, other document.Value) (document.Value, error) {
	if mentionsManagedFields(similar) || mentionsManagedFields(other) {
		return r.read("object", text, similar)
	}
	return r.read("object", text, similar, fastdoc.FieldsV1Path...)
}

// mentionsManagedFields reports whether a document contains metadata.managedFields or a list directive for it.
func mentionsManagedFields(v document.Value) bool {
	for name := range v.Get("metadata").Fields() {
		if strings.HasSuffix(name, "managedFields") {
			return true
		}
	}
	return false
}

// textDiffer and textMerger hold all memory of one call. After an error the memory is not returned to the pool, because
// the error may refer to parts of documents.
type (
	textDiffer struct {
		textReader
		differ
	}
	textMerger struct {
		textReader
		merger
	}
)

var (
	textDifferPool = sync.Pool{New: func() any { return &textDiffer{} }}
	textMergerPool = sync.Pool{New: func() any { return &textMerger{} }}
)

func newTextDiffer() *textDiffer { return textDifferPool.Get().(*textDiffer) }
func newTextMerger() *textMerger { return textMergerPool.Get().(*textMerger) }

// finish appends the JSON of the patch to dst and returns the memory to the pool.
func (d *textDiffer) finish(dst []byte, patch document.Value) []byte {
	dst = patch.AppendJSON(dst)
	d.recycle()
	d.reader.Reset()
	textDifferPool.Put(d)
	return dst
}

// finish appends the JSON of the result to dst and returns the memory to the pool.
func (m *textMerger) finish(dst []byte, result document.Value) []byte {
	dst = result.AppendJSON(dst)
	m.recycle()
	m.reader.Reset()
	textMergerPool.Put(m)
	return dst
}
