package builtin

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// defaults holds the defaulting rules of a type, and properties that are derived from them.
type defaults struct {
	rules []rule
	// fieldsToDefault are the fields of a struct that Go always encodes, and the fields whose types have defaults, sorted by
	// name.
	fieldsToDefault []*Field
	// noDefaults reports whether defaulting never changes values of the type.
	noDefaults bool
}

// Default returns the document in which unset fields have kube-apiserver's defaults, and fields without omitempty, which Go
// always encodes, have at least their zero values. A field that is set changes only if a kind file has a rule for it. The
// document must be a result of Decode.
func (t *Type) Default(doc document.Value) document.Value {
	if t.noDefaults {
		return doc
	}
	d := defaulters.Get().(*defaulter)
	defer d.release()
	return d.defaultValue(t, doc)
}

// DefaultChanged returns the same result as Default for a document that was derived from defaulted, a result of Default. It is
// faster, because it skips the top-level fields of doc that are identical to those of defaulted.
func (t *Type) DefaultChanged(doc, defaulted document.Value) document.Value {
	if t.noDefaults || document.Same(doc, defaulted) {
		return doc
	}
	d := defaulters.Get().(*defaulter)
	defer d.release()
	d.defaulted = defaulted
	return d.defaultValue(t, doc)
}

// defaulter is the state of one call of Default. One structUpdate is sufficient, because the rules of a struct run before
// its fields are visited.
type defaulter struct {
	b      fastdoc.Builder
	update structUpdate
	// defaulted is a document with defaults. Top-level fields that are identical in defaulted are not visited. It is absent if
	// there is none.
	defaulted document.Value
	// added is the size of the added defaults in bytes.
	added int
}

// maxDefaultBytes is the size of the defaults, as JSON, that are added to one object. A Pod of a million empty containers
// would become 40 times as large. An object that reaches the limit is too large to be stored.
const maxDefaultBytes = 4 << 20

var defaulters = sync.Pool{New: func() any { return new(defaulter) }}

func (d *defaulter) release() {
	d.b.Reset()
	d.update.release()
	d.defaulted, d.added = document.Value{}, 0
	defaulters.Put(d)
}

func (d *defaulter) defaultValue(t *Type, v document.Value) document.Value {
	if t.noDefaults || fastdoc.IsUnparsed(v) || d.added > maxDefaultBytes {
		return v
	}
	switch kind := v.Kind(); {
	case t.Kind == Struct && kind == document.Map:
		return d.defaultFields(t, d.applyRules(t, v))
	case t.Kind == List && kind == document.List:
		return d.defaultItems(t, v)
	case t.Kind == Map && kind == document.Map:
		return d.defaultValues(t, v)
	}
	return v
}

// defaultFields returns v with the fields that Go always encodes, and with defaults inside its fields. It is a merge join of
// the value's fields with fieldsToDefault, both sorted by name.
func (d *defaulter) defaultFields(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	defaulted := d.defaulted
	d.defaulted = document.Value{} // defaulted applies only to the fields of the root document
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
			if defaulted.IsAbsent() || !document.Same(old, defaulted.Get(f.Name)) {
				value = d.defaultField(f, old)
			}
			change.Add(next, f.Name, value, old)
			next++
		case f.Always:
			change.Begin(next)
			d.added += len(f.Name) + sizeOfMember
			d.b.Push(f.Name, d.defaultField(f, document.NewNull()))
		}
	}
	if change.Begun() {
		d.b.PushAll(v, next, count)
	}
	return change.Finish()
}

// defaultField returns v, the value of f, with its defaults set. A null becomes the zero value of the field's type, unless Go
// encodes that zero value as null.
func (d *defaulter) defaultField(f *Field, v document.Value) document.Value {
	if v.IsNull() {
		if f.zeroIsNull() {
			return v
		}
		v = f.Type.zero()
	}
	return d.defaultValue(f.Type, v)
}

func (d *defaulter) defaultItems(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	for i := range v.Len() {
		old := v.At(i)
		change.Add(i, "", d.defaultValue(t.Elem, old), old)
	}
	return change.Finish()
}

func (d *defaulter) defaultValues(t *Type, v document.Value) document.Value {
	change := d.b.Rebuild(v)
	for i := range v.Len() {
		name, old := v.Field(i)
		change.Add(i, name, d.defaultValue(t.Elem, old), old)
	}
	return change.Finish()
}

// applyRules returns v after the defaulting rules of its type t are applied, but not those of the types of its fields.
func (d *defaulter) applyRules(t *Type, v document.Value) document.Value {
	if len(t.rules) == 0 {
		return v
	}
	s := &d.update
	s.v, s.b = v, &d.b
	for i := range t.rules {
		t.rules[i].apply(s)
	}
	for i := range s.changes {
		d.added += len(s.changes[i].Name) + len(s.changes[i].Value.Text()) + sizeOfMember
	}
	return s.finish()
}

// sizeOfMember is the size of the punctuation and of a short value of a field in JSON.
const sizeOfMember = len(`"":{},`)

// findDefaults sets noDefaults and fieldsToDefault of all types. Because types can be recursive, it repeats the computation
// of noDefaults until no type changes.
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

// needsDefaulting reports whether defaulting can change values of the type, according to its rules and to noDefaults of the
// types of its fields and elements.
func (t *Type) needsDefaulting() bool {
	return len(t.rules) > 0 || t.Elem != nil && !t.Elem.noDefaults ||
		slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Always || !f.Type.noDefaults })
}
