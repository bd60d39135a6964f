package builtin

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// DecodeOptions are options that depend on the source of a document.
type DecodeOptions struct {
	// WholeFloats makes decoding accept a number such as 1.0 as an integer. Kubernetes rejects such numbers in JSON, but
	// accepts them in YAML and in strategic merge patches, which it converts to other types before decoding.
	WholeFloats bool
}

// Decode returns the document as kube-apiserver decodes it into Go structs and encodes it again. Unknown fields are dropped;
// unknown contains their paths, such as spec.template.spec.containers[0].foo. A null is dropped unless Go encodes the field's
// zero value as null. For a value of the wrong type Decode returns a [*ValueError].
func (t *Type) Decode(doc document.Value) (read document.Value, unknown []string, err error) {
	return t.DecodeWith(doc, DecodeOptions{})
}

// DecodeWith decodes a document as Decode does, with options.
func (t *Type) DecodeWith(doc document.Value, options DecodeOptions) (read document.Value, unknown []string, err error) {
	r := decoders.Get().(*decoder)
	defer r.release()
	r.root, r.options = t, options
	read, err = r.read(t, doc)
	return read, r.unknown, err
}

// decoder is the state of one call of DecodeWith.
//
//	read        decodes any value; it returns the same Value if nothing changes
//	readStruct  and others decode values of one kind
//
// A list or map is copied only if one of its items or fields changes.
type decoder struct {
	options DecodeOptions
	root    *Type
	b       fastdoc.Builder
	path    []pathStep // path is the path from the root to the value that is being decoded.
	unknown []string
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func (d *decoder) release() {
	d.b.Reset()
	clear(d.path[:cap(d.path)])
	d.path, d.unknown, d.root = d.path[:0], nil, nil
	decoders.Put(d)
}

func (d *decoder) read(t *Type, v document.Value) (document.Value, error) {
	kind := v.Kind()
	switch t.Kind {
	case Struct:
		if kind == document.Map {
			return d.readStruct(t, v)
		}
	case List:
		if kind == document.List {
			return d.readList(t, v)
		}
	case Map:
		if kind == document.Map {
			return d.readMap(t, v)
		}
	case Raw, Fields:
		return v, nil
	default:
		return d.readScalar(t, v)
	}
	return v, d.newKindError(t, v)
}

// readStruct decodes the fields of a struct. It is a merge join of the value's fields with the fields of the type, both
// sorted by name.
func (d *decoder) readStruct(t *Type, v document.Value) (document.Value, error) {
	if fastdoc.IsUnparsed(v) {
		return v, nil
	}
	change := d.b.Rebuild(v)
	fields, next := t.Fields, 0
	depth := len(d.path)
	for i := range v.Len() {
		name, value := v.Field(i)
		for next < len(fields) && fields[next].Name < name {
			next++
		}
		var read document.Value
		if next < len(fields) && fields[next].Name == name {
			var err error
			f := &fields[next]
			d.path = append(d.path, pathStep{name: name, parent: t, field: f})
			if read, err = d.readField(f, value); err != nil {
				return v, err
			}
			d.path = d.path[:depth]
		} else {
			d.addUnknown(name)
		}
		change.Add(i, name, read, value)
	}
	return change.Finish(), nil
}

// addUnknown records the path of the unknown field with the given name, unless it has recorded the maximum number of unknown
// fields that Kubernetes reports.
func (d *decoder) addUnknown(name string) {
	const maximum = 100
	if len(d.unknown) < maximum {
		d.unknown = append(d.unknown, d.pathTo(name))
	}
}

// readField decodes the value of a struct field. It returns an absent value for a null that Go does not encode.
func (d *decoder) readField(f *Field, v document.Value) (document.Value, error) {
	if !v.IsNull() {
		return d.read(f.Type, v)
	}
	if f.Always && f.zeroIsNull() {
		return v, nil
	}
	return document.Value{}, nil
}

// zeroIsNull reports whether Go encodes the zero value of the field as null, as for pointers and slices.
func (f *Field) zeroIsNull() bool { return f.Pointer || f.Type.zeroIsNull() }

func (t *Type) zeroIsNull() bool {
	switch t.Kind {
	case List, Map, Bytes, Time, MicroTime, Raw, Fields:
		return true
	}
	return false
}

func (d *decoder) readList(t *Type, v document.Value) (document.Value, error) {
	if fastdoc.IsUnparsed(v) {
		return v, nil
	}
	change := d.b.Rebuild(v)
	depth := len(d.path)
	for i := range v.Len() {
		value := v.At(i)
		d.path = append(d.path, pathStep{index: i, parent: t})
		read, err := d.readPart(t.Elem, value)
		if err != nil {
			return v, err
		}
		d.path = d.path[:depth]
		change.Add(i, "", read, value)
	}
	return change.Finish(), nil
}

func (d *decoder) readMap(t *Type, v document.Value) (document.Value, error) {
	if fastdoc.IsUnparsed(v) {
		return v, nil
	}
	change := d.b.Rebuild(v)
	depth := len(d.path)
	for i := range v.Len() {
		name, value := v.Field(i)
		d.path = append(d.path, pathStep{name: name, parent: t})
		read, err := d.readPart(t.Elem, value)
		if err != nil {
			return v, err
		}
		d.path = d.path[:depth]
		change.Add(i, name, read, value)
	}
	return change.Finish(), nil
}

// readPart decodes v, a list item or map value of type t. A null becomes the zero value of t, because Go cannot omit items.
func (d *decoder) readPart(t *Type, v document.Value) (document.Value, error) {
	if v.IsNull() {
		return t.emptyPart(), nil
	}
	read, err := d.read(t, v)
	if read.IsAbsent() {
		return t.emptyPart(), err
	}
	return read, err
}

// emptyPart returns the value that replaces a null list item or a null map value of the type.
func (t *Type) emptyPart() document.Value {
	if t.Kind == Bytes {
		return emptyString // null would be "" after a round trip through storage
	}
	return t.zero()
}
