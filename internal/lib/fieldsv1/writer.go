package fieldset

import "github.com/cadastre/cadastre/document"

// Writer writes the FieldsV1 of a set while the set is being found, without making
// the set: the elements of a level must come in order, or be arranged afterwards.
//
//	w.Begin()
//	spec := w.OpenName(Name{Text: "spec"}, false)
//	image := w.OpenName(Name{Text: "image"}, true)
//	w.Close(image)
//	w.Close(spec)
//	text := w.End()
//
// The zero Writer is ready to use, and to be used again.
type Writer struct {
	text  []byte
	spare []byte
}

// Opened is an element that has been written and whose level is being written.
type Opened struct {
	start, inside int
	member        bool
}

const dotEntry = `".":{}`

// Begin starts a set.
func (w *Writer) Begin() { w.text = append(w.text[:0], '{') }

// End finishes the set. The text is only valid until the next Begin.
func (w *Writer) End() []byte {
	w.text = append(w.text, '}')
	return w.text
}

// Len returns how much has been written; Truncate goes back to there.
func (w *Writer) Len() int { return len(w.text) }

// Truncate takes back all that was written after the given length.
func (w *Writer) Truncate(length int) { w.text = w.text[:length] }

// Each of the following appends to a copy of the slice and stores it once: storing a
// pointer is dear while the collector runs.

// Name is the name of a field, of which it may be known that it needs no escape.
type Name struct {
	Text  string
	Plain bool
}

// OpenName writes a field's name; what is below it follows.
func (w *Writer) OpenName(name Name, member bool) Opened {
	text, start := separate(w.text)
	return w.inside(name.append(text), start, member)
}

// Leaf writes a field's name, which is a member with nothing below it.
func (w *Writer) Leaf(name Name) {
	text, _ := separate(w.text)
	w.text = append(name.append(text), `":{}`...)
}

func (n Name) append(text []byte) []byte {
	text = append(text, `"f:`...)
	if n.Plain {
		return append(text, n.Text...)
	}
	return appendName(text, n.Text)
}

// OpenValue writes an item of a set, which is a member.
func (w *Writer) OpenValue(v document.Value) Opened {
	text, start := separate(w.text)
	text = append(text, `"v:`...)
	text = AppendValue(text, v)
	return w.inside(text, start, true)
}

// OpenKey writes an item of a keyed list, which is a member. The fields must come in
// order; those with an absent value are left out.
func (w *Writer) OpenKey(fields []KeyField) Opened {
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

func separate(text []byte) (out []byte, start int) {
	start = len(text)
	if text[start-1] != '{' {
		text = append(text, ',')
	}
	return text, start
}

func (w *Writer) inside(text []byte, start int, member bool) Opened {
	text = append(text, `":{`...)
	o := Opened{start, len(text), member}
	if member {
		text = append(text, dotEntry...)
	}
	w.text = text
	return o
}

// Close finishes an element. One that is no member and has nothing below it is
// taken back.
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

// Arrange puts elements of one level into another order. The first of them was
// written at start; ends tells where each ended; order tells which comes when.
func (w *Writer) Arrange(start int, ends, order []int) {
	w.spare = append(w.spare[:0], w.text[start:]...)
	to := start
	for n, i := range order {
		from := 0
		if i > 0 {
			from = ends[i-1] - start
		}
		if w.spare[from] == ',' {
			from++
		}
		if n > 0 {
			w.text[to] = ','
			to++
		} else if w.spare[0] == ',' {
			to++ // what was before the level's first element stays
		}
		to += copy(w.text[to:], w.spare[from:ends[i]-start])
	}
}
