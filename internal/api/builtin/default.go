package builtin

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// defaults holds the default rules of a type.
type defaults struct {
	rules []rule
	// fieldsToDefault are the fields of a struct that are always written, or whose types have defaults.
	fieldsToDefault []*Field
	// noDefaults marks types whose values never change in defaulting.
	noDefaults bool
}

// Default returns the document with kube-apiserver's defaults of unset fields and with the fields that Go always
// writes. Nothing else changes, except where a kind file states it. The document must be a result of Decode.
func (t *Type) Default(doc document.Value) document.Value {
	if t.noDefaults {
		return doc
	}
	d := defaulters.Get().(*defaulter)
	defer d.release()
	return d.value(t, doc)
}

// DefaultChanged is Default for a document that was derived from done, a result of Default: fields that are unchanged
// since then are skipped.
func (t *Type) DefaultChanged(doc, done document.Value) document.Value {
	if t.noDefaults || document.Same(doc, done) {
		return doc
	}
	d := defaulters.Get().(*defaulter)
	defer d.release()
	d.done = done
	return d.value(t, doc)
}

// defaulter is the state of one call of Default. The rules of a struct run before its fields are visited, so that one
// structUpdate is in use at a time.
type defaulter struct {
	b      fastdoc.Builder
	update structUpdate
	// done is the document whose fields have defaults already; absent if there is none.
	done document.Value
}

var defaulters = sync.Pool{New: func() any { return new(defaulter) }}

func (d *defaulter) release() {
	d.b.Reset()
	d.update.release()
	d.done = document.Value{}
	defaulters.Put(d)
}

func (d *defaulter) value(t *Type, v document.Value) document.Value {
	if t.noDefaults || fastdoc.IsUnparsed(v) {
		return v
	}
	switch kind := v.Kind(); {
	case t.Kind == Struct && kind == document.Map:
		return d.fields(t, d.applyRules(t, v))
	case t.Kind == List && kind == document.List:
		return d.items(t, v)
	case t.Kind == Map && kind == document.Map:
		return d.values(t, v)
	}
	return v
}

// fields adds the fields that are always written, and applies the defaults of the other fields. Both the fields of the
// value and fieldsToDefault are sorted.
func (d *defaulter) fields(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	done := d.done
	d.done = document.Value{} // done is the state of the root document only
	next, count := 0, v.Len()
	for _, f := range t.fieldsToDefault {
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

// field applies defaults to the value of a field; null stands for an absent value.
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

// applyRules applies the default rules of a struct.
func (d *defaulter) applyRules(t *Type, v document.Value) document.Value {
	if len(t.rules) == 0 {
		return v
	}
	s := &d.update
	s.v, s.b = v, &d.b
	for i := range t.rules {
		t.rules[i].apply(s)
	}
	return s.finish()
}

// findDefaults sets noDefaults of all types to a fixed point, then their fieldsToDefault.
func (t *table) findDefaults() {
	for _, kind := range t.types {
		kind.noDefaults = true
	}
	for again := true; again; {
		again = false
		for _, kind := range t.types {
			if kind.noDefaults && kind.needsDefaulting() {
				kind.noDefaults, again = false, true
			}
		}
	}
	for _, kind := range t.types {
		for i := range kind.Fields {
			if f := &kind.Fields[i]; f.Always || !f.Type.noDefaults {
				kind.fieldsToDefault = append(kind.fieldsToDefault, f)
			}
		}
	}
}

// needsDefaulting reports whether values of the type can change in defaulting, given the current noDefaults of other
// types.
func (t *Type) needsDefaulting() bool {
	return len(t.rules) > 0 || t.Elem != nil && !t.Elem.noDefaults ||
		slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Always || !f.Type.noDefaults })
}
