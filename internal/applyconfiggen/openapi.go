package applyconfiggen

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// OpenAPISource generates apply configurations from OpenAPI documents, version 2 or 3, such as those of a server.
type OpenAPISource struct {
	Documents []document.Value
	// Output is the import path of the parent of the generated packages, which are named GROUP/VERSION.
	Output string
	// Groups are the API groups whose kinds are generated; empty means all groups. The name of the core group is "core".
	Groups []string
}

// openAPIReader converts the definitions of OpenAPI documents.
type openAPIReader struct {
	*schemaReader
	source      OpenAPISource
	definitions map[string]document.Value
	// namespaced and subresources contain the scope and the subresources of each kind, as derived from the paths in the documents.
	namespaced   map[gvk]bool
	subresources map[gvk][]string
	byName       map[string]*Type
	packages     map[string]*Package
	meta         *metadata
	// resolving contains the definitions, except structs, that are being resolved, to detect recursion.
	resolving map[string]bool
}

type gvk struct{ group, version, kind string }

func gvkOf(v document.Value) gvk {
	return gvk{v.Get("group").Text(), v.Get("version").Text(), v.Get("kind").Text()}
}

// read returns the packages with the apply configurations of all selected kinds and of the structs to which these refer.
func (s OpenAPISource) read() ([]*Package, error) {
	r := &openAPIReader{
		schemaReader: newSchemaReader(), source: s, definitions: map[string]document.Value{}, namespaced: map[gvk]bool{},
		subresources: map[gvk][]string{}, byName: map[string]*Type{}, packages: map[string]*Package{}, meta: newMetadata(),
		resolving: map[string]bool{},
	}
	r.resolve, r.definition = r.reference, func(ref string) document.Value { return r.definitions[path.Base(ref)] }
	for _, doc := range s.Documents {
		for _, definitions := range []document.Value{doc.Get("definitions"), doc.Lookup("components", "schemas")} {
			for name, schema := range definitions.Fields() {
				if _, known := r.definitions[name]; !known {
					r.definitions[name] = schema
				}
			}
		}
		r.paths(doc.Get("paths"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.definitions)) {
		if kind, ok := r.rootKind(r.definitions[name]); ok && r.selected(kind.group) {
			if !isIdentifier(kind.kind) || !isIdentifier(kind.version) || kind.group != "" && !isGroup(kind.group) {
				return nil, fmt.Errorf("%s: expected a kind with a group, version and kind, received %v", name, kind)
			}
			r.root(name, kind)
		}
	}
	if len(r.packages) == 0 {
		return nil, errors.New("expected OpenAPI documents with kinds, received none with a selected kind; check --group")
	}
	return r.schemaReader.packages(r.packages), r.err
}

func (r *openAPIReader) selected(group string) bool {
	if group == "" {
		group = "core"
	}
	return len(r.source.Groups) == 0 || slices.Contains(r.source.Groups, group)
}

// paths derives from the paths of a document which kinds are namespaced and which subresources they have.
func (r *openAPIReader) paths(paths document.Value) {
	for at, operations := range paths.Fields() {
		parts := strings.Split(strings.Trim(at, "/"), "/")
		for _, operation := range operations.Fields() {
			kind := gvkOf(operation.Get("x-kubernetes-group-version-kind"))
			if kind.kind == "" {
				continue
			}
			if i := slices.Index(parts, "{namespace}"); i >= 0 && i < len(parts)-1 {
				r.namespaced[kind] = true
			}
			if last := parts[len(parts)-1]; len(parts) > 1 && parts[len(parts)-2] == "{name}" && last == "status" && !slices.Contains(r.subresources[kind], last) {
				r.subresources[kind] = append(r.subresources[kind], last)
			}
		}
	}
}

// rootKind returns the kind that a definition describes; ok is false if it describes no kind with metadata.
func (r *openAPIReader) rootKind(schema document.Value) (kind gvk, ok bool) {
	kinds := schema.Get("x-kubernetes-group-version-kind")
	metadata := schema.Get("properties").Get("metadata")
	if kinds.Len() != 1 || strings.HasSuffix(reference(metadata), ".ListMeta") || metadata.IsAbsent() {
		return gvk{}, false
	}
	kind = gvkOf(kinds.At(0))
	return kind, !strings.HasSuffix(kind.kind, "List") || schema.Get("properties").Get("items").IsAbsent()
}

func (r *openAPIReader) root(name string, kind gvk) {
	t := r.typeOf(name, path.Join(r.source.Output, groupPath(kind.group, kind.version)), kind.kind)
	r.kind(t, &Root{
		APIVersion: strings.TrimPrefix(kind.group+"/"+kind.version, "/"), Kind: kind.kind, Namespaced: r.namespaced[kind], HasMetadata: true,
		Object: GoName{"", "any"}, Subresources: r.subresources[kind],
	}, r.meta)
}

// typeOf returns the struct for a definition, which it creates on the first call.
func (r *openAPIReader) typeOf(definition, pkg, name string) *Type {
	if t := r.byName[definition]; t != nil {
		return t
	}
	schema := r.definitions[definition]
	t := r.declare(pkg, name, schema)
	r.byName[definition] = t
	if r.packages[pkg] == nil {
		parts := strings.Split(pkg, "/")
		r.packages[pkg] = &Package{Path: pkg, Name: path.Base(pkg), Doc: strings.Join(parts[max(0, len(parts)-2):], "/")}
	}
	r.fields(t, schema)
	return t
}

// reference returns the Go type for a $ref. It returns any for a list or map that contains itself, and for a $ref to itself, because
// only structs can be recursive in generated code.
func (r *openAPIReader) reference(ref string) *Expr {
	definition := path.Base(ref)
	schema, known := r.definitions[definition]
	if !known {
		return nil
	}
	pkg, name := r.structName(definition)
	switch {
	case name == "ObjectMeta" && strings.HasSuffix(pkg, "/meta/v1"):
		return &Expr{Shape: Struct, Name: GoName{metaPath, name}, Target: r.meta.objectMeta}
	case name == "MicroTime", name == "Quantity":
		return leaf("", "string")
	case name == "IntOrString":
		return leaf(runtimePath, "IntOrString")
	case !isIdentifier(name) || !isIdentifier(path.Base(pkg)):
		return anyExpr
	case schema.Get("type").Text() == "object" && schema.Get("properties").Len() > 0 && !schema.Get("x-kubernetes-preserve-unknown-fields").Bool():
		if kind, ok := r.rootKind(schema); ok {
			pkg, name = path.Join(r.source.Output, groupPath(kind.group, kind.version)), kind.kind
		}
		t := r.typeOf(definition, pkg, name)
		return &Expr{Shape: Struct, Name: GoName{t.Package, t.Name}, Target: t}
	}
	if r.resolving[definition] {
		return anyExpr
	}
	r.resolving[definition] = true
	defer delete(r.resolving, definition)
	return r.expr(pkg, name, schema)
}

// structName returns the package and the name of the struct for a definition such as io.k8s.api.apps.v1.DeploymentSpec.
func (r *openAPIReader) structName(definition string) (pkg, name string) {
	parts := strings.Split(definition, ".")
	name = parts[len(parts)-1]
	folder := "types/v1"
	for i := len(parts) - 2; i > 0; i-- {
		if versionPattern.MatchString(parts[i]) {
			folder = strings.ReplaceAll(parts[i-1], "-", "") + "/" + parts[i]
			break
		}
	}
	return path.Join(r.source.Output, folder), name
}
