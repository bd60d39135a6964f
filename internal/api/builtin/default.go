package builtin

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// defaults is what happens to the values of a type.
type defaults struct {
	rules []rule
	// busy are a struct's fields that may have to be added, or in which something may have to be.
	busy []*Field
	// quiet says that there is nothing to do in any value of the type.
	quiet bool
}

// Default returns the document with the values that kube-apiserver gives to fields that are unset,
// and with those that Go always writes. Nothing else is changed, except where a kind file states it.
// The document is one that Read returned.
func (t *Type) Default(doc document.Value) document.Value {
	if t.quiet {
		return doc
	}
	d := defaulters.Get().(*defaulter)
	defer d.release()
	return d.value(t, doc)
}

// DefaultAgain is Default for a document that Default returned as done, and of which some fields may
// have been changed since: the others are not looked into again.
func (t *Type) DefaultAgain(doc, done document.Value) document.Value {
	if t.quiet || document.Same(doc, done) {
		return doc
	}
	d := defaulters.Get().(*defaulter)
	defer d.release()
	d.done = done
	return d.value(t, doc)
}

// defaulter is the state of one defaulting. The rules of a struct are followed before it looks into
// the struct's fields, so that there is only one subject at a time.
type defaulter struct {
	b       fastdoc.Builder
	subject subject
	// done is the document whose fields have been looked into already; absent if none have.
	done document.Value
}

var defaulters = sync.Pool{New: func() any { return new(defaulter) }}

func (d *defaulter) release() {
	d.b.Reset()
	d.subject.release()
	d.done = document.Value{}
	defaulters.Put(d)
}

func (d *defaulter) value(t *Type, v document.Value) document.Value {
	if t.quiet || fastdoc.IsUnparsed(v) {
		return v
	}
	switch kind := v.Kind(); {
	case t.Kind == Struct && kind == document.Map:
		return d.fields(t, d.follow(t, v))
	case t.Kind == List && kind == document.List:
		return d.items(t, v)
	case t.Kind == Map && kind == document.Map:
		return d.values(t, v)
	}
	return v
}

// fields adds the fields that are always written, and defaults what is in the others. The fields of
// the value and those that are busy are both sorted.
func (d *defaulter) fields(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	done := d.done
	d.done = document.Value{} // it is about the fields of the document itself
	next, count := 0, v.Len()
	for _, f := range t.busy {
		from := next
		for next < count && v.Name(next) < f.Name {
			next++
		}
		if change.Begun() {
			d.b.PushAll(v, from, next)
		}
		switch {
		case next < count && v.Name(next) == f.Name:
			old := v.At(next)
			value := old
			if done.IsAbsent() || !document.Same(old, done.Get(f.Name)) {
				value = d.field(f, old)
			}
			change.Add(next, f.Name, value, old)
			next++
		case f.Always:
			change.Begin(next)
			d.b.Push(f.Name, d.field(f, document.NewNull()))
		}
	}
	if change.Begun() {
		d.b.PushAll(v, next, count)
	}
	return change.Finish()
}

// field defaults what is in a field, where null stands for nothing.
func (d *defaulter) field(f *Field, v document.Value) document.Value {
	if v.IsNull() {
		if f.zeroIsNull() {
			return v
		}
		v = f.Type.zero()
	}
	return d.value(f.Type, v)
}

func (d *defaulter) items(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	for i := range v.Len() {
		old := v.At(i)
		change.Add(i, "", d.value(t.Elem, old), old)
	}
	return change.Finish()
}

func (d *defaulter) values(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	for i := range v.Len() {
		name, old := v.Field(i)
		change.Add(i, name, d.value(t.Elem, old), old)
	}
	return change.Finish()
}

// follow follows the rules of a struct.
func (d *defaulter) follow(t *Type, v document.Value) document.Value {
	if len(t.rules) == 0 {
		return v
	}
	s := &d.subject
	s.v, s.b = v, &d.b
	for i := range t.rules {
		t.rules[i].follow(s)
	}
	return s.finish()
}

// settle finds out which types are quiet, and which fields are busy.
func (t *table) settle() {
	for _, kind := range t.types {
		kind.quiet = true
	}
	for again := true; again; {
		again = false
		for _, kind := range t.types {
			if kind.quiet && kind.hasWork() {
				kind.quiet, again = false, true
			}
		}
	}
	for _, kind := range t.types {
		for i := range kind.Fields {
			if f := &kind.Fields[i]; f.Always || !f.Type.quiet {
				kind.busy = append(kind.busy, f)
			}
		}
	}
}

// hasWork tells whether there is something to do in a value, as far as it is known yet.
func (t *Type) hasWork() bool {
	return len(t.rules) > 0 || t.Elem != nil && !t.Elem.quiet ||
		slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Always || !f.Type.quiet })
}
