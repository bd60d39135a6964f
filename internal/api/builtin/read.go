package builtin

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// ReadOptions say how a document came.
type ReadOptions struct {
	// WholeFloats takes 1.0 for an integer. Upstream refuses it in JSON, but not in YAML and in
	// strategic merge patches, which it converts before it decodes them.
	WholeFloats bool
}

// Read returns the document as kube-apiserver has it after decoding. Fields that the type does not
// have are left out and returned by path: spec.template.spec.containers[0].foo. Nulls are left out
// where Go would not write them. A value of the wrong kind is a [*ValueError].
func (t *Type) Read(doc document.Value) (read document.Value, unknown []string, err error) {
	return t.ReadWith(doc, ReadOptions{})
}

// ReadWith does what Read does, with options.
func (t *Type) ReadWith(doc document.Value, options ReadOptions) (read document.Value, unknown []string, err error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.root, r.options = t, options
	read, err = r.read(t, doc)
	return read, r.unknown, err
}

// reader is the state of one reading. What a value looks like in the code:
//
//	read        any value: it returns the same one if there is nothing to change
//	readStruct  and so on: the value is of the kind that the name says
//
// A container is built anew from the first part on that differs.
type reader struct {
	options ReadOptions
	root    *Type
	b       fastdoc.Builder
	path    []place // from the root to the value that is being read
	unknown []string
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func (r *reader) release() {
	r.b.Reset()
	clear(r.path[:cap(r.path)])
	r.path, r.unknown, r.root = r.path[:0], nil, nil
	readers.Put(r)
}

func (r *reader) read(t *Type, v document.Value) (document.Value, error) {
	kind := v.Kind()
	switch t.Kind {
	case Struct:
		if kind == document.Map {
			return r.readStruct(t, v)
		}
	case List:
		if kind == document.List {
			return r.readList(t, v)
		}
	case Map:
		if kind == document.Map {
			return r.readMap(t, v)
		}
	case Raw, Fields:
		return v, nil
	default:
		return r.readScalar(t, v)
	}
	return v, r.wrongKind(t, v)
}

// readStruct joins the fields of a value with those of its type; both are sorted.
func (r *reader) readStruct(t *Type, v document.Value) (document.Value, error) {
	if fastdoc.IsUnparsed(v) {
		return v, nil
	}
	change := r.b.Rebuild(v)
	fields, next := t.Fields, 0
	depth := len(r.path)
	for i := range v.Len() {
		name, value := v.Field(i)
		for next < len(fields) && fields[next].Name < name {
			next++
		}
		var read document.Value
		if next < len(fields) && fields[next].Name == name {
			var err error
			f := &fields[next]
			r.path = append(r.path, place{name: name, in: t, field: f})
			if read, err = r.readField(f, value); err != nil {
				return v, err
			}
			r.path = r.path[:depth]
		} else {
			r.noteUnknown(name)
		}
		change.Add(i, name, read, value)
	}
	return change.Finish(), nil
}

// noteUnknown notes a field that the type does not have. Upstream stops counting, too.
func (r *reader) noteUnknown(name string) {
	const most = 100
	if len(r.unknown) < most {
		r.unknown = append(r.unknown, r.pathTo(name))
	}
}

// readField returns an absent value if Go would have nothing to write.
func (r *reader) readField(f *Field, v document.Value) (document.Value, error) {
	if !v.IsNull() {
		return r.read(f.Type, v)
	}
	if f.Always && f.zeroIsNull() {
		return v, nil
	}
	return document.Value{}, nil
}

// zeroIsNull tells whether Go writes null where there is nothing in the field.
func (f *Field) zeroIsNull() bool { return f.Pointer || f.Type.zeroIsNull() }

func (t *Type) zeroIsNull() bool {
	switch t.Kind {
	case List, Map, Bytes, Time, MicroTime, Raw, Fields:
		return true
	}
	return false
}

func (r *reader) readList(t *Type, v document.Value) (document.Value, error) {
	if fastdoc.IsUnparsed(v) {
		return v, nil
	}
	change := r.b.Rebuild(v)
	depth := len(r.path)
	for i := range v.Len() {
		value := v.At(i)
		r.path = append(r.path, place{index: i, in: t})
		read, err := r.readPart(t.Elem, value)
		if err != nil {
			return v, err
		}
		r.path = r.path[:depth]
		change.Add(i, "", read, value)
	}
	return change.Finish(), nil
}

func (r *reader) readMap(t *Type, v document.Value) (document.Value, error) {
	if fastdoc.IsUnparsed(v) {
		return v, nil
	}
	change := r.b.Rebuild(v)
	depth := len(r.path)
	for i := range v.Len() {
		name, value := v.Field(i)
		r.path = append(r.path, place{name: name, in: t})
		read, err := r.readPart(t.Elem, value)
		if err != nil {
			return v, err
		}
		r.path = r.path[:depth]
		change.Add(i, name, read, value)
	}
	return change.Finish(), nil
}

// readPart reads an item of a list or a value of a map. Go can not leave it out: null is a zero.
func (r *reader) readPart(t *Type, v document.Value) (document.Value, error) {
	if v.IsNull() {
		return t.emptyPart(), nil
	}
	read, err := r.read(t, v)
	if read.IsAbsent() {
		return t.emptyPart(), err
	}
	return read, err
}

// emptyPart is what null becomes in a list or map.
func (t *Type) emptyPart() document.Value {
	if t.Kind == Bytes {
		return emptyString // as it is after it was stored
	}
	return t.zero()
}
