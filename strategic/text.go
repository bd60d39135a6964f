package strategic

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// From text to text. Nothing but bytes leaves these functions, so that all memory between the
// texts is used again by the next call, and what the texts have in common is read once.

// AppendDiff is [Diff] from JSON to JSON: it appends the patch.
func AppendDiff(dst []byte, original, modified string, t *Type) ([]byte, error) {
	d := newTextDiffer()
	before, err := d.read("original", original, document.Value{})
	if err != nil {
		return dst, err
	}
	wanted, err := d.read("modified", modified, before)
	if err != nil {
		return dst, err
	}
	patch, err := d.diffRoot(t, versions{before, before, wanted})
	if err != nil {
		return dst, err
	}
	return d.finish(dst, patch), nil
}

// AppendDiff is [ThreeWay.Diff] from JSON to JSON: it appends the patch. An empty original is absent.
func (w ThreeWay) AppendDiff(dst []byte, original, modified, current string) ([]byte, error) {
	d := newTextDiffer()
	var before document.Value
	var err error
	if original != "" {
		if before, err = d.read("original", original, document.Value{}); err != nil {
			return dst, err
		}
	}
	wanted, err := d.read("modified", modified, before)
	if err != nil {
		return dst, err
	}
	now, err := d.readLive(current, before, wanted)
	if err != nil {
		return dst, err
	}
	patch, err := w.diff(&d.differ, versions{before, now, wanted})
	if err != nil {
		return dst, err
	}
	return d.finish(dst, patch), nil
}

// AppendMerge is [Merge] from JSON to JSON: it appends the patched object. Field sets in managedFields keep their
// spelling.
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

// textReader reads documents that are needed until the memory is used again.
type textReader struct{ reader fastdoc.Reader }

// read reads a document that is expected to have much in common with another, if there is one.
func (r *textReader) read(what, text string, similar document.Value, sealed ...string) (document.Value, error) {
	v, err := r.reader.ParseJSON(text, document.Limits{}, similar, sealed...)
	if err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// readLive reads the object that two documents speak of, the first of which is expected to have
// much in common with it. If neither says anything of its managedFields, their field sets need
// not be looked into.
func (r *textReader) readLive(text string, similar, other document.Value) (document.Value, error) {
	if mentionsManagedFields(similar) || mentionsManagedFields(other) {
		return r.read("object", text, similar)
	}
	return r.read("object", text, similar, fastdoc.FieldsV1Path...)
}

// mentionsManagedFields reports whether managedFields, or a directive about them, are in a document.
func mentionsManagedFields(v document.Value) bool {
	for name := range v.Get("metadata").Fields() {
		if strings.HasSuffix(name, "managedFields") {
			return true
		}
	}
	return false
}

// textDiffer and textMerger have all the memory of a call. If the call fails, it is not used
// again, because errors may show parts of documents.
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

func (d *textDiffer) finish(dst []byte, patch document.Value) []byte {
	dst = patch.AppendJSON(dst)
	d.recycle()
	d.reader.Reset()
	textDifferPool.Put(d)
	return dst
}

func (m *textMerger) finish(dst []byte, result document.Value) []byte {
	dst = result.AppendJSON(dst)
	m.recycle()
	m.reader.Reset()
	textMergerPool.Put(m)
	return dst
}
