package fieldset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fieldsv1"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// TestWriter checks that a fieldsv1.Writer writes the same FieldsV1 as the set, even if the elements are written in
// another order and sorted afterwards with Arrange.
func TestWriter(t *testing.T) {
	var w fieldsv1.Writer
	for seed := range uint64(2000) {
		r := newRand(seed)
		elements := slices.DeleteFunc(randomElements(r), func(e elementPair) bool { return e.ours.Kind() == Index })
		if len(elements) == 0 {
			continue
		}
		s := withItems(randomSetPair(r, elements).ours)
		w.Begin()
		writeShuffled(r, &w, s)
		if got, want := string(w.End()), s.FieldsV1(); got != want {
			t.Fatalf("seed %d: written FieldsV1 =\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// withItems returns s with all its list items as members, because a Writer writes every list item as a member.
func withItems(s Set) Set {
	var b builder
	mark := b.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		b.Push(e, s.Member(i) || e.Kind() != FieldName, withItems(s.Child(i)))
	}
	return b.Set(mark)
}

// writeShuffled writes the elements of a set in random order and sorts them with Arrange.
func writeShuffled(r *rand.Rand, w *fieldsv1.Writer, s Set) {
	start, shuffled := w.Len(), r.Perm(s.Len())
	ends, order := make([]int, s.Len()), make([]int, s.Len())
	for n, i := range shuffled {
		order[i] = n
		o := openElement(w, s.Element(i), s.Member(i))
		writeShuffled(r, w, s.Child(i))
		w.Close(o)
		ends[n] = w.Len()
	}
	if !slices.IsSorted(shuffled) {
		w.Arrange(start, ends, order)
	}
}

func openElement(w *fieldsv1.Writer, e Element, member bool) fieldsv1.Opened {
	switch e.Kind() {
	case Key:
		var keys []document.Field
		for _, key := range e.KeyFields() {
			keys = append(keys, document.Field(key))
		}
		return w.OpenKey(keys)
	case SetValue:
		return w.OpenValue(e.Value())
	}
	return w.OpenName(fieldsv1.Name{Text: e.Name(), Plain: scan.IsPlain(e.Name())}, member)
}

func TestWriterTruncate(t *testing.T) {
	var w fieldsv1.Writer
	w.Begin()
	w.Close(w.OpenName(fieldsv1.Name{Text: "empty"}, false))
	spec := w.OpenName(fieldsv1.Name{Text: "spec"}, true)
	mark := w.Len()
	w.Close(w.OpenName(fieldsv1.Name{Text: "gone"}, true))
	w.Truncate(mark)
	w.Close(w.OpenName(fieldsv1.Name{Text: "empty"}, false))
	w.Close(spec)
	w.Close(w.OpenName(fieldsv1.Name{Text: "empty"}, false))
	w.Close(w.OpenName(fieldsv1.Name{Text: "status"}, true))
	if got, want := string(w.End()), `{"f:spec":{},"f:status":{}}`; got != want {
		t.Errorf("End() = %s, want %s", got, want)
	}
}
