package strategic

import (
	"fmt"
	"sync"

	"github.com/cadastre/cadastre/document"
)

// From text to text. Nothing but bytes leaves these functions, so that all memory between the
// texts is used again by the next call, and what the texts have in common is read once.

// AppendDiff is [Diff] from JSON to JSON: it appends the patch.
func AppendDiff(dst []byte, original, modified string, t *Type) ([]byte, error) {
	d := newTextDiffer()
	var docs [2]document.Value
	var err error
	if docs[0], err = d.read("original", original, document.Value{}); err != nil {
		return dst, err
	}
	if docs[1], err = d.read("modified", modified, docs[0]); err != nil {
		return dst, err
	}
	patch, err := d.differ.diffRoot(t, versions{docs[0], docs[0], docs[1]})
	if err != nil {
		return dst, err
	}
	return d.finish(dst, patch), nil
}

// AppendDiff is [ThreeWay.Diff] from JSON to JSON: it appends the patch. An original that is empty
// is absent.
func (w ThreeWay) AppendDiff(dst []byte, original, modified, current string) ([]byte, error) {
	d := newTextDiffer()
	var before document.Value
	now, err := d.read("current", current, document.Value{})
	if err != nil {
		return dst, err
	}
	if original != "" {
		if before, err = d.read("original", original, now); err != nil {
			return dst, err
		}
	}
	like := before
	if like.IsAbsent() {
		like = now
	}
	wanted, err := d.read("modified", modified, like)
	if err != nil {
		return dst, err
	}
	patch, err := w.diff(&d.differ, versions{before, now, wanted})
	if err != nil {
		return dst, err
	}
	return d.finish(dst, patch), nil
}

// AppendMerge is [Merge] from JSON to JSON: it appends the patched object.
func AppendMerge(dst []byte, object, patch string, t *Type) ([]byte, error) {
	m := newTextMerger()
	live, err := m.read("object", object, document.Value{})
	if err != nil {
		return dst, err
	}
	change, err := m.read("patch", patch, document.Value{})
	if err != nil {
		return dst, err
	}
	result, err := m.merger.merge(t, live, change)
	if err != nil {
		return dst, err
	}
	return m.finish(dst, result), nil
}

// textReader reads documents that are needed until the memory is used again.
type textReader struct{ reader document.Reader }

// read reads a document that is expected to have much in common with another, if there is one.
func (r *textReader) read(what, text string, like document.Value) (document.Value, error) {
	v, err := r.reader.ParseJSON(text, document.Limits{}, like)
	if err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
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
