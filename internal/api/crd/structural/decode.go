package structural

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Decode returns the document as kube-apiserver decodes it. Unknown fields are pruned; unknown contains their paths, such as
// spec.ports[0].foo. A null is pruned if its field is neither nullable nor has a default. The metadata of the object and of
// embedded resources is decoded like the metadata of built-in kinds. For malformed metadata Decode returns a
// [*builtin.ValueError], for malformed embedded resources a [*field.Error].
func (t *Type) Decode(doc document.Value) (read document.Value, unknown []string, err error) {
	r := decoders.Get().(*decoder)
	defer r.release()
	r.t, r.preserveAll = t, t.options.Preserve
	read = r.decodeObject(doc)
	if r.err != nil {
		return doc, nil, r.err
	}
	slices.Sort(r.pruned)
	slices.Sort(r.embedded)
	return read, slices.Concat(r.metadata, r.pruned, r.embedded), nil
}

// decoder is the state of one call of Decode. A list or map is copied only if one of its items or fields changes.
type decoder struct {
	t    *Type
	b    fastdoc.Builder
	path []step
	// preserveAll disables the pruning of unknown fields and of nulls; preserveNulls disables only the pruning of nulls.
	preserveAll, preserveNulls bool
	// dropInvalid drops malformed parts of embedded resources instead of failing.
	dropInvalid bool
	// rootMetadata is the decoded metadata of the object itself, not of an embedded resource.
	rootMetadata document.Value
	// metadata contains the paths of unknown fields in the object's metadata.
	metadata []string
	// pruned contains the paths of unknown fields in the part of the object that the schema describes.
	pruned []string
	// embedded contains the paths of unknown fields in the metadata of embedded resources (x-kubernetes-embedded-resource).
	embedded []string
	err      error
}

// step is one element of the path of a value: a field or an item.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	fieldStep stepKind = iota // field that the schema declares in properties
	keyStep                   // field that the schema does not declare
	itemStep                  // item of a list
)

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func (d *decoder) release() {
	d.b.Reset()
	clear(d.path[:cap(d.path)])
	*d = decoder{b: d.b, path: d.path[:0]}
	decoders.Put(d)
}

// decodeObject decodes a whole object.
func (d *decoder) decodeObject(doc document.Value) document.Value {
	if doc.Kind() != document.Map {
		d.fail(fmt.Errorf("expected an object, received a %s", doc.Kind()))
		return doc
	}
	for _, name := range [...]string{"kind", "apiVersion"} {
		if v := doc.Get(name); !v.IsAbsent() && v.Kind() != document.String {
			d.fail(fmt.Errorf(".%s accessor error: %v is of the type %T, expected string", name, v.ToGo(), v.ToGo()))
			return doc
		}
	}
	d.rootMetadata = d.readRootMetadata(doc.Get("metadata"))
	if _, err := apischema.ParseGroupVersion(doc.Get("apiVersion").Text()); err != nil {
		d.fail(err)
	}
	if d.err != nil {
		return doc
	}
	return d.decodeFields(d.t.root, doc, false, true)
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// decodeValue decodes a value with the schema n. If n is nil, the value has no schema: all fields of maps inside the value
// are pruned, unless keep is set.
func (d *decoder) decodeValue(n *node, v document.Value, keep bool) document.Value {
	switch kind := v.Kind(); {
	case kind != document.Map && kind != document.List || fastdoc.IsUnparsed(v):
		return v
	case n == nil && (keep || d.preserveAll):
		return v
	case n == nil:
		return d.stripFields(v)
	case kind == document.Map:
		return d.decodeFields(n, v, keep, false)
	}
	return d.items(n, v, keep)
}

func (d *decoder) items(n *node, v document.Value, keep bool) document.Value {
	change := d.b.Rebuild(v)
	depth := len(d.path)
	for i := range v.Len() {
		old := v.At(i)
		if old.IsScalar() && !change.Begun() {
			continue
		}
		d.path = append(d.path, step{index: i, kind: itemStep})
		change.Add(i, "", d.decodeValue(n.items, old, keep || n.preserve), old)
		d.path = d.path[:depth]
	}
	return change.Finish()
}

// decodeFields decodes the fields of a map. root marks the map as the whole object, which has apiVersion, kind and metadata
// regardless of the schema. keep disables pruning.
func (d *decoder) decodeFields(n *node, v document.Value, keep, root bool) document.Value {
	change := d.b.Rebuild(v)
	keep = keep || n.preserve || d.preserveAll
	next := 0
	for i := range v.Len() {
		name, old := v.Field(i)
		child, declared := n.child(name, &next)
		var value document.Value
		switch {
		case root && isMeta(name):
			value = d.rootField(name, old)
		case n.embedded && isMeta(name):
			value = d.decodeMetaField(child, name, old)
		case declared || n.open:
			value = d.field(child, name, old, declared)
		case keep:
			value = old
		default:
			d.pruned = append(d.pruned, d.unknownPath(name))
		}
		change.Add(i, name, value, old)
	}
	return change.Finish()
}

// isMeta reports whether a name is apiVersion, kind or metadata, the fields that every resource has.
func isMeta(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

func (d *decoder) field(n *node, name string, v document.Value, declared bool) document.Value {
	switch {
	case v.IsScalar():
		return v
	case d.dropsNull(n, v):
		return document.Value{}
	}
	kind := keyStep
	if declared {
		kind = fieldStep
	}
	depth := len(d.path)
	d.path = append(d.path, step{name: name, kind: kind})
	value := d.decodeValue(n, v, false)
	d.path = d.path[:depth]
	return value
}

// dropsNull reports whether v, a value with the schema n, is a null that decoding prunes.
func (d *decoder) dropsNull(n *node, v document.Value) bool {
	return v.IsNull() && !d.preserveAll && !d.preserveNulls && n != nil && !n.nullable && n.defaultValue.IsAbsent()
}

// readRootMetadata decodes the metadata of the object itself. It is called before other fields are decoded, because errors in
// metadata take precedence.
func (d *decoder) readRootMetadata(v document.Value) document.Value {
	if v.IsAbsent() {
		return v
	}
	read, unknown, err := d.readMetadata(v)
	if err != nil {
		d.fail(err)
	}
	for _, path := range unknown {
		d.metadata = append(d.metadata, "metadata."+path)
	}
	return read
}

func (d *decoder) rootField(name string, v document.Value) document.Value {
	if name == "metadata" {
		return d.rootMetadata
	}
	return v
}

// readMetadata decodes the metadata of the object or of an embedded resource. It decodes null as an empty map.
func (d *decoder) readMetadata(v document.Value) (read document.Value, unknown []string, err error) {
	if v.IsNull() {
		return document.NewMap(), nil, nil
	}
	return d.t.metadata.Decode(v)
}

// decodeMetaField decodes apiVersion, kind or metadata of an embedded resource.
func (d *decoder) decodeMetaField(n *node, name string, v document.Value) document.Value {
	if d.dropsNull(n, v) {
		return document.Value{}
	}
	if name != "metadata" {
		if v.Kind() != document.String && d.dropInvalid {
			return document.Value{}
		}
		if v.Kind() != document.String {
			d.fail(field.Invalid(field.NewPath(d.fieldPath(name)), v.ToGo(), "must be a string"))
		}
		return v
	}
	read, unknown, err := d.readMetadata(v)
	if err != nil && d.dropInvalid {
		return d.removeUndecodable(v)
	}
	if err != nil {
		d.fail(field.Invalid(field.NewPath(d.fieldPath(name)), v.ToGo(), err.Error()))
		return v
	}
	for _, path := range unknown {
		d.embedded = append(d.embedded, d.fieldPath(name)+"."+path)
	}
	return read
}

// removeUndecodable returns malformed metadata without the fields that cannot be decoded. A value that is not a map is returned
// unchanged.
func (d *decoder) removeUndecodable(v document.Value) document.Value {
	var kept []document.Field
	for name, value := range v.Fields() {
		if read, _, err := d.readMetadata(document.NewMap(document.Field{Name: name, Value: value})); err == nil {
			kept = append(kept, document.Field{Name: name, Value: read.Get(name)})
		}
	}
	if v.Kind() != document.Map {
		return v
	}
	return document.NewMap(kept...)
}

// stripFields returns a value in which all maps are empty: the value itself, or the maps in its items. It records the paths of
// the removed fields as pruned.
func (d *decoder) stripFields(v document.Value) document.Value {
	if v.Kind() == document.Map {
		for name := range v.Fields() {
			d.pruned = append(d.pruned, d.unknownPath(name))
		}
		if v.Len() == 0 {
			return v
		}
		return document.NewMap()
	}
	change := d.b.Rebuild(v)
	depth := len(d.path)
	for i := range v.Len() {
		d.path = append(d.path, step{index: i, kind: itemStep})
		change.Add(i, "", d.decodeValue(nil, v.At(i), false), v.At(i))
		d.path = d.path[:depth]
	}
	return change.Finish()
}

// unknownPath returns the path of the named field of the current map in the notation of warnings about unknown fields.
func (d *decoder) unknownPath(name string) string { return writePath(d.path, name, ".", "") }

// fieldPath returns the path of the named field of the current map in the notation of validation errors, in which fields that
// the schema does not declare are in brackets.
func (d *decoder) fieldPath(name string) string { return writePath(d.path, name, "[", "]") }

func writePath(path []step, name, beforeKey, afterKey string) string {
	var b strings.Builder
	for _, s := range append(path, step{name: name}) {
		switch {
		case s.kind == itemStep:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case s.kind == keyStep && (beforeKey != "." || b.Len() > 0):
			b.WriteString(beforeKey + s.name + afterKey)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}
