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
	read = r.object(doc)
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
	// rootMetadata is the decoded metadata of the object itself, as opposed to that of embedded resources.
	rootMetadata document.Value
	// metadata contains the paths of unknown fields in the object's metadata.
	metadata []string
	// pruned contains the paths of unknown fields in the part of the object that the schema describes.
	pruned []string
	// embedded contains the paths of unknown fields in the metadata of embedded resources.
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

func (r *decoder) release() {
	r.b.Reset()
	clear(r.path[:cap(r.path)])
	*r = decoder{b: r.b, path: r.path[:0]}
	decoders.Put(r)
}

// object decodes a whole object.
func (r *decoder) object(doc document.Value) document.Value {
	if doc.Kind() != document.Map {
		r.fail(fmt.Errorf("expected an object, received a %s", doc.Kind()))
		return doc
	}
	for _, name := range [...]string{"kind", "apiVersion"} {
		if v := doc.Get(name); !v.IsAbsent() && v.Kind() != document.String {
			r.fail(fmt.Errorf(".%s accessor error: %v is of the type %T, expected string", name, v.ToGo(), v.ToGo()))
			return doc
		}
	}
	r.rootMetadata = r.readRootMetadata(doc.Get("metadata"))
	if _, err := apischema.ParseGroupVersion(doc.Get("apiVersion").Text()); err != nil {
		r.fail(err)
	}
	if r.err != nil {
		return doc
	}
	return r.fields(r.t.root, doc, false, true)
}

func (r *decoder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// value decodes a value with the schema n. If n is nil, the value has no schema: all fields of maps in it are pruned, unless
// keep is set.
func (r *decoder) value(n *node, v document.Value, keep bool) document.Value {
	switch kind := v.Kind(); {
	case kind != document.Map && kind != document.List || fastdoc.IsUnparsed(v):
		return v
	case n == nil && (keep || r.preserveAll):
		return v
	case n == nil:
		return r.strip(v)
	case kind == document.Map:
		return r.fields(n, v, keep, false)
	}
	return r.items(n, v, keep)
}

func (r *decoder) items(n *node, v document.Value, keep bool) document.Value {
	change := r.b.Rebuild(v)
	depth := len(r.path)
	for i := range v.Len() {
		old := v.At(i)
		if old.IsScalar() && !change.Begun() {
			continue
		}
		r.path = append(r.path, step{index: i, kind: itemStep})
		change.Add(i, "", r.value(n.items, old, keep || n.preserve), old)
		r.path = r.path[:depth]
	}
	return change.Finish()
}

// fields decodes the fields of a map. root marks the map as the whole object, which has apiVersion, kind and metadata
// regardless of the schema. keep disables pruning.
func (r *decoder) fields(n *node, v document.Value, keep, root bool) document.Value {
	change := r.b.Rebuild(v)
	keep = keep || n.preserve || r.preserveAll
	next := 0
	for i := range v.Len() {
		name, old := v.Field(i)
		child, declared := n.child(name, &next)
		var now document.Value
		switch {
		case root && isMeta(name):
			now = r.rootField(name, old)
		case n.embedded && isMeta(name):
			now = r.metaField(child, name, old)
		case declared || n.open:
			now = r.field(child, name, old, declared)
		case keep:
			now = old
		default:
			r.pruned = append(r.pruned, r.unknownPath(name))
		}
		change.Add(i, name, now, old)
	}
	return change.Finish()
}

// isMeta reports whether a name is apiVersion, kind or metadata, the fields that every resource has.
func isMeta(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

func (r *decoder) field(n *node, name string, v document.Value, declared bool) document.Value {
	switch {
	case v.IsScalar():
		return v
	case r.dropsNull(n, v):
		return document.Value{}
	}
	kind := keyStep
	if declared {
		kind = fieldStep
	}
	depth := len(r.path)
	r.path = append(r.path, step{name: name, kind: kind})
	now := r.value(n, v, false)
	r.path = r.path[:depth]
	return now
}

// dropsNull reports whether a value of the schema n is a null that is to be pruned.
func (r *decoder) dropsNull(n *node, v document.Value) bool {
	return v.IsNull() && !r.preserveAll && !r.preserveNulls && n != nil && !n.nullable && n.defaultValue.IsAbsent()
}

// readRootMetadata decodes the metadata of the object itself. It is called before other fields are decoded, because errors in
// metadata take precedence.
func (r *decoder) readRootMetadata(v document.Value) document.Value {
	if v.IsAbsent() {
		return v
	}
	read, unknown, err := r.readMetadata(v)
	if err != nil {
		r.fail(err)
	}
	for _, path := range unknown {
		r.metadata = append(r.metadata, "metadata."+path)
	}
	return read
}

func (r *decoder) rootField(name string, v document.Value) document.Value {
	if name == "metadata" {
		return r.rootMetadata
	}
	return v
}

// readMetadata decodes the metadata of the object or of an embedded resource. It decodes null as an empty map.
func (r *decoder) readMetadata(v document.Value) (read document.Value, unknown []string, err error) {
	if v.IsNull() {
		return document.NewMap(), nil, nil
	}
	return r.t.metadata.Decode(v)
}

// metaField decodes apiVersion, kind or metadata of an embedded resource.
func (r *decoder) metaField(n *node, name string, v document.Value) document.Value {
	if r.dropsNull(n, v) {
		return document.Value{}
	}
	if name != "metadata" {
		if v.Kind() != document.String && r.dropInvalid {
			return document.Value{}
		}
		if v.Kind() != document.String {
			r.fail(field.Invalid(field.NewPath(r.fieldPath(name)), v.ToGo(), "must be a string"))
		}
		return v
	}
	read, unknown, err := r.readMetadata(v)
	if err != nil && r.dropInvalid {
		return r.decodable(v)
	}
	if err != nil {
		r.fail(field.Invalid(field.NewPath(r.fieldPath(name)), v.ToGo(), err.Error()))
		return v
	}
	for _, path := range unknown {
		r.embedded = append(r.embedded, r.fieldPath(name)+"."+path)
	}
	return read
}

// decodable returns malformed metadata without the fields that cannot be decoded. A value that is not a map is returned
// unchanged.
func (r *decoder) decodable(v document.Value) document.Value {
	var kept []document.Field
	for name, value := range v.Fields() {
		if read, _, err := r.readMetadata(document.NewMap(document.Field{Name: name, Value: value})); err == nil {
			kept = append(kept, document.Field{Name: name, Value: read.Get(name)})
		}
	}
	if v.Kind() != document.Map {
		return v
	}
	return document.NewMap(kept...)
}

// strip returns a value in which all maps are empty: the value itself, or the maps in its items. It records the paths of the
// removed fields as pruned.
func (r *decoder) strip(v document.Value) document.Value {
	if v.Kind() == document.Map {
		for name := range v.Fields() {
			r.pruned = append(r.pruned, r.unknownPath(name))
		}
		if v.Len() == 0 {
			return v
		}
		return document.NewMap()
	}
	change := r.b.Rebuild(v)
	depth := len(r.path)
	for i := range v.Len() {
		r.path = append(r.path, step{index: i, kind: itemStep})
		change.Add(i, "", r.value(nil, v.At(i), false), v.At(i))
		r.path = r.path[:depth]
	}
	return change.Finish()
}

// unknownPath returns the path of the named field of the current map in the notation of warnings about unknown fields.
func (r *decoder) unknownPath(name string) string { return writePath(r.path, name, ".", "") }

// fieldPath returns the path of the named field of the current map in the notation of validation errors, in which fields that
// the schema does not declare are in brackets.
func (r *decoder) fieldPath(name string) string { return writePath(r.path, name, "[", "]") }

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
