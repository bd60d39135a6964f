package schema

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// LoadCRD loads the topology of each version of a CustomResourceDefinition (apiextensions.k8s.io/v1). The result is a
// map from the name of the version to its root type.
//
// The schemas must be structural. Every kind, and every part marked with x-kubernetes-embedded-resource, has the fields
// apiVersion, kind and metadata; a schema that the CRD declares for these fields is ignored, and metadata has the same
// topology as in the built-in kinds. A version without a schema is untyped.
func LoadCRD(doc document.Value) (map[string]*Type, error) {
	if err := checkCRD(doc); err != nil {
		return nil, err
	}
	r := newReader()
	spec, at := doc.Get("spec"), rootLocation("spec")
	r.preserve = r.readFlag(spec, at, "preserveUnknownFields")
	r.declareObjectMeta()
	r.custom = true

	l := newLinker(&r.problems)
	types := map[string]*Type{}
	for i, version := range spec.Get("versions").Items() {
		at := at.field("versions").index(i)
		name := version.Get("name").Text()
		if name == "" {
			r.add(at.field("name"), "the name of the version", describe(version.Get("name")), "name it, such as v1")
		}
		if types[name] != nil {
			r.add(at.field("name"), "each version once", quote(name)+" again", "remove or rename one")
		}
		root := r.readVersion(version, at)
		root.name = modelName(spec, name)
		types[name] = l.typeOf(ref{to: root})
	}
	l.run()
	if err := r.err(); err != nil {
		return nil, err
	}
	return types, nil
}

// checkCRD returns an error for a document that is not a CRD of apiextensions.k8s.io/v1.
func checkCRD(doc document.Value) error {
	const kind, apiVersion = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
	switch {
	case doc.Kind() != document.Map:
		return &Error{Expected: "a " + kind + ", which is a map", Received: describe(doc)}
	case doc.Get("kind").Text() != kind:
		return &Error{Path: "kind", Expected: kind, Received: describe(doc.Get("kind"))}
	case doc.Get("apiVersion").Text() != apiVersion:
		return &Error{Path: "apiVersion", Expected: apiVersion, Received: describe(doc.Get("apiVersion")),
			Advice: "convert the definition to this version"}
	case doc.Lookup("spec", "versions").Kind() != document.List:
		return &Error{Path: "spec.versions", Expected: "a list of versions", Received: describe(doc.Lookup("spec", "versions"))}
	}
	return nil
}

// modelName returns the name that kube-apiserver's OpenAPI uses for the type of a custom kind, such as
// com.example.stable.v1.Foo.
func modelName(spec document.Value, version string) string {
	group := strings.Split(spec.Get("group").Text(), ".")
	slices.Reverse(group)
	return strings.Join(append(group, version, spec.Lookup("names", "kind").Text()), ".")
}

// readVersion reads the root type of v, an entry of spec.versions.
func (r *reader) readVersion(v document.Value, at *location) *unlinkedType {
	at = at.field("schema").field("openAPIV3Schema")
	root := nonNull(nonNull(v, "schema"), "openAPIV3Schema")
	if root.IsAbsent() {
		// As in kube-apiserver, metadata is untyped too if the version has no schema.
		return &unlinkedType{fields: &unlinkedMap{element: ref{to: unlinkedUntyped}}}
	}
	if word := nonNull(root, "type"); word.Kind() == document.String && word.Text() != "object" && word.Text() != "" {
		r.add(at.field("type"), "object, because a kind is a map", describe(word), "write type: object")
	}
	d := *r.read(root, at, nesting{preserve: r.preserve, root: true})
	return &d
}

// checkStructural adds a problem if a schema object of a CRD has no type and declares neither
// x-kubernetes-int-or-string nor x-kubernetes-preserve-unknown-fields.
func (r *reader) checkStructural(v document.Value, at *location) {
	if !r.custom || nonNull(v, "x-kubernetes-int-or-string").Bool() ||
		nonNull(v, "x-kubernetes-preserve-unknown-fields").Bool() {
		return
	}
	r.add(at, "a structural schema, which has a type", "no type",
		"write the type, x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields")
}

// withResourceFields returns fields with the declarations of apiVersion, kind and metadata replaced with those that
// every Kubernetes resource has.
func (r *reader) withResourceFields(fields []unlinkedField) []unlinkedField {
	fields = slices.DeleteFunc(fields, func(f unlinkedField) bool {
		return f.name == "apiVersion" || f.name == "kind" || f.name == "metadata"
	})
	text := &unlinkedType{scalar: String}
	return append(fields,
		unlinkedField{name: "apiVersion", value: ref{to: text}},
		unlinkedField{name: "kind", value: ref{to: text}},
		unlinkedField{name: "metadata", value: ref{to: r.definitions[objectMetaName]}},
	)
}
