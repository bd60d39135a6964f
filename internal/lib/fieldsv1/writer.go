package fieldsv1

import "github.com/cadastre/cadastre/document"

// Writer writes a field set as FieldsV1 element by element, without building the set. The caller must write the
// elements of each level (JSON object) in the order of fieldset.Element.Compare, or call Arrange; this is not checked.
//
//	w.Begin()
//	spec := w.OpenName(Name{Text: "spec"}, false)
//	image := w.OpenName(Name{Text: "image"}, true)
//	w.Close(image)
//	w.Close(spec)
//	text := w.End()
//
// The zero Writer is ready to use, and can be used again after End. It is not safe for concurrent use.
type Writer struct {
	text    []byte
	scratch []byte
}

// Opened is an element whose children are being written; it must be passed to Close.
type Opened struct {
	start, inside int
	member        bool
}

// dotEntry is the entry of an element's JSON object that makes the element a member of the set.
const dotEntry = `".":{}`

// Begin starts a set and discards the text of the previous one.
func (w *Writer) Begin() { w.text = append(w.text[:0], '{') }

// End finishes the set and returns its FieldsV1. The text is valid until the next Begin.
func (w *Writer) End() []byte {
	w.text = append(w.text, '}')
	return w.text
}

// Len returns the number of bytes that have been written since Begin.
func (w *Writer) Len() int { return len(w.text) }

// Truncate discards the text after the first length bytes.
func (w *Writer) Truncate(length int) { w.text = w.text[:length] }

// The methods below append to a local copy of the slice and store it once, because storing a pointer is expensive while
// the garbage collector runs.

// Name is a field name. Plain asserts that the name needs no escapes in JSON. The Writer then does not search the name
// for special characters, which makes creating a Node 5 % faster (BenchmarkCadastre/Node/create in test/bench).
type Name struct {
	Text  string
	Plain bool
}

func (n Name) append(text []byte) []byte {
	text = append(text, `"f:`...)
	if n.Plain {
		return append(text, n.Text...)
	}
	return AppendName(text, n.Text)
}

// OpenName writes a field name. The caller then writes its children and calls Close.
func (w *Writer) OpenName(name Name, member bool) Opened {
	text, start := separate(w.text)
	return w.inside(name.append(text), start, member)
}

// Leaf writes a field name that is a member and has no children.
func (w *Writer) Leaf(name Name) {
	text, _ := separate(w.text)
	w.text = append(name.append(text), `":{}`...)
}

// OpenValue writes an item of a list of type set as a member. The caller then writes its children and calls Close.
func (w *Writer) OpenValue(v document.Value) Opened {
	text, start := separate(w.text)
	text = append(text, `"v:`...)
	text = AppendValue(text, v)
	return w.inside(text, start, true)
}

// OpenKey writes an item of a list of type map as a member. The keys must be sorted by name; keys with an absent value
// are left out. The caller then writes the children of the item and calls Close.
func (w *Writer) OpenKey(fields []document.Field) Opened {
	text, start := separate(w.text)
	text = append(text, `"k:{`...)
	first := true
	for _, f := range fields {
		if f.Value.IsAbsent() {
			continue
		}
		if !first {
			text = append(text, ',')
		}
		first = false
		text = AppendKeyField(text, f.Name, f.Value)
	}
	text = append(text, '}')
	return w.inside(text, start, true)
}

// separate appends the comma before an element, unless the element is the first one of its level. start is the length
// of text without the comma.
func separate(text []byte) (out []byte, start int) {
	start = len(text)
	if text[start-1] != '{' {
		text = append(text, ',')
	}
	return text, start
}

// inside finishes the name of an element and starts its object.
func (w *Writer) inside(text []byte, start int, member bool) Opened {
	text = append(text, `":{`...)
	o := Opened{start, len(text), member}
	if member {
		text = append(text, dotEntry...)
	}
	w.text = text
	return o
}

// Close finishes an element. An element that is not a member and has no children is discarded.
func (w *Writer) Close(o Opened) {
	size := len(w.text) - o.inside
	switch {
	case !o.member && size == 0:
		w.text = w.text[:o.start]
		return
	case o.member && size == len(dotEntry):
		w.text = w.text[:o.inside]
	}
	w.text = append(w.text, '}')
}

// Arrange reorders the elements of one level. start is the offset of the first element, ends contains the end offset of
// each element, and order contains the indexes of the elements in the new order.
func (w *Writer) Arrange(start int, ends, order []int) {
	w.scratch = append(w.scratch[:0], w.text[start:]...)
	to := start
	for n, i := range order {
		from := 0
		if i > 0 {
			from = ends[i-1] - start
		}
		if w.scratch[from] == ',' {
			from++
		}
		if n > 0 {
			w.text[to] = ','
			to++
		} else if w.scratch[0] == ',' {
			to++ // keep the comma that separates the first element from the text before start
		}
		to += copy(w.text[to:], w.scratch[from:ends[i]-start])
	}
}
