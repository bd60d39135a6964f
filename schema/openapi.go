package schema

import (
	"net/url"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// LoadOpenAPI loads the types of an OpenAPI document: the definitions of an OpenAPI 2 document or the component schemas
// of an OpenAPI 3 document.
//
// [Schema.Type] finds a type by its name, [Schema.Kind] by the kinds in its extension x-kubernetes-group-version-kind.
// If two types declare the same kind, as in some aggregated documents, Kind returns the type whose name sorts first.
func LoadOpenAPI(doc document.Value) (*Schema, error) {
	if doc.Kind() != document.Map {
		return nil, &Error{Expected: "an OpenAPI document, which is a map", Received: describe(doc)}
	}
	at, definitions := findDefinitions(doc)
	switch {
	case definitions.Kind() == document.Map:
	case definitions.IsAbsent() && (!doc.Get("openapi").IsAbsent() || !doc.Get("swagger").IsAbsent()):
		return &Schema{}, nil // the OpenAPI document of an API group that declares no types
	default:
		return nil, &Error{at.String(), "a map of schemas by name", describe(definitions),
			"pass a whole OpenAPI document, version 2 (definitions) or 3 (components.schemas)"}
	}
	r := newReader()
	r.declareAll(definitions, at)
	s := r.link(r.kinds(definitions, at))
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// findDefinitions returns the map of named schemas of an OpenAPI document, version 2 or 3, and its location.
func findDefinitions(doc document.Value) (*location, document.Value) {
	if v := doc.Get("definitions"); !v.IsAbsent() {
		return rootLocation("definitions"), v
	}
	return rootLocation("components").field("schemas"), doc.Lookup("components", "schemas")
}

// These types have JSON that their OpenAPI schema does not fully describe. They are recognized by name, as in
// kube-apiserver.
const (
	quantityName     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

// declareAll reads a map of definitions, which may refer to each other in any order.
func (r *reader) declareAll(definitions document.Value, at *location) {
	for name := range definitions.Fields() {
		r.definitions[name] = &unlinkedType{name: name}
	}
	for name, v := range definitions.Fields() {
		r.declare(r.definitions[name], v, at.field(name))
	}
}

func (r *reader) declare(d *unlinkedType, v document.Value, at *location) {
	switch {
	case d.name == quantityName:
		d.scalar = AnyScalar
	case d.name == rawExtensionName:
		d.alias = &ref{to: unlinkedOpaque}
	case nonNull(v, "$ref").Text() != "":
		target := r.readRef(v, at, nesting{})
		d.alias = &target
	default:
		name := d.name
		*d = *r.read(v, at, nesting{preserve: r.preserve})
		d.name = name
	}
}

// link converts all definitions to Types. kinds contains the definitions of the types that Schema.Kind returns.
func (r *reader) link(kinds map[groupVersionKind]*unlinkedType) *Schema {
	l := newLinker(&r.problems)
	s := &Schema{
		types: make(map[string]*Type, len(r.definitions)),
		kinds: make(map[groupVersionKind]*Type, len(kinds)),
	}
	for name, d := range r.definitions {
		s.types[l.intern(name)] = l.typeOf(ref{to: d})
	}
	for k, d := range kinds {
		s.kinds[groupVersionKind{l.intern(k.group), l.intern(k.version), l.intern(k.kind)}] = l.typeOf(ref{to: d})
	}
	l.run()
	return s
}

// kinds returns the definitions with the extension x-kubernetes-group-version-kind, by each of the kinds that the
// extension declares.
func (r *reader) kinds(definitions document.Value, at *location) map[groupVersionKind]*unlinkedType {
	const extension = "x-kubernetes-group-version-kind"
	kinds := map[groupVersionKind]*unlinkedType{}
	for name, v := range definitions.Fields() {
		list := nonNull(v, extension)
		if list.IsAbsent() {
			continue
		}
		at := at.field(name).field(extension)
		if list.Kind() != document.List {
			r.add(at, "a list of group, version and kind", describe(list), "write a list, even for one kind")
			continue
		}
		for i, item := range list.Items() {
			k, ok := r.groupVersionKind(item, at.index(i))
			if _, taken := kinds[k]; ok && !taken {
				kinds[k] = r.definitions[name]
			}
		}
	}
	return kinds
}

func (r *reader) groupVersionKind(v document.Value, at *location) (groupVersionKind, bool) {
	group, version, kind := v.Get("group"), v.Get("version"), v.Get("kind")
	for _, part := range []document.Value{group, version, kind} {
		if part.Kind() != document.String {
			r.add(at, "a map with the strings group, version and kind", describe(v), "write all three; group may be empty")
			return groupVersionKind{}, false
		}
	}
	k := groupVersionKind{group.Text(), version.Text(), kind.Text()}
	return k, k.kind != ""
}

// lookup returns the definition that a $ref names. Only the last element of the reference matters, so references of
// both OpenAPI 2 and OpenAPI 3 work.
func (r *reader) lookup(reference string) (*unlinkedType, bool) {
	if !strings.HasPrefix(reference, "#/") {
		return nil, false
	}
	name := reference[strings.LastIndexByte(reference, '/')+1:]
	if d, ok := r.definitions[name]; ok {
		return d, true
	}
	d, ok := r.definitions[unescape(name)]
	return d, ok
}

// unescape decodes an element of a JSON pointer that is part of a URI fragment.
func unescape(name string) string {
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}
