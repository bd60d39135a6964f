package applyconfiggen

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const metaSource = "k8s.io/apimachinery/pkg/apis/meta/v1"

// GoSource generates apply configurations from Go packages with API types.
type GoSource struct {
	// Dir is a folder of the module in which the packages are resolved.
	Dir string
	// Patterns are package patterns, as in the arguments of go list.
	Patterns []string
	// Output maps import paths of API packages, or prefixes of them, to the import paths of their apply configurations.
	// Structs of packages that are not in Output are used unchanged.
	Output map[string]string
}

// goReader converts Go API types to the intermediate representation.
type goReader struct {
	source   GoSource
	packages map[string]*packages.Package
	// specs contains the struct declarations of all packages, by import path and name.
	specs map[GoName]*declaration
	types map[GoName]*Type
	// queue contains the types whose fields have not been read yet.
	queue []*types.Named
}

// declaration contains the doc comment, the markers and the fields of a struct declaration.
type declaration struct {
	doc     string
	markers markers
	fields  map[string]*ast.Field
}

// read returns the packages with the apply configurations of all kinds and of the structs to which these refer.
func (s GoSource) read(ctx context.Context) ([]*Package, error) {
	config := &packages.Config{
		Context: ctx, Dir: s.Dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}
	loaded, err := packages.Load(config, s.Patterns...)
	if err != nil {
		return nil, err
	}
	r := &goReader{source: s, packages: map[string]*packages.Package{}, specs: map[GoName]*declaration{}, types: map[GoName]*Type{}}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: expected a package that compiles, received: %w", p.PkgPath, p.Errors[0])
		}
		r.packages[p.PkgPath] = p
		r.declare(p)
	}
	for _, name := range slices.SortedFunc(maps.Keys(r.specs), compareNames) {
		named, ok := r.packages[name.Path].Types.Scope().Lookup(name.Name).Type().(*types.Named)
		if ok && r.isKind(named) {
			r.structOf(named)
		}
	}
	for len(r.queue) > 0 {
		named := r.queue[0]
		r.queue = r.queue[1:]
		r.readFields(named)
	}
	return r.resultPackages()
}

func compareNames(a, b GoName) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Name, b.Name))
}

// declare records the declarations of the exported structs of a package.
func (r *goReader) declare(p *packages.Package) {
	for _, file := range p.Syntax {
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok || !t.Name.IsExported() {
					continue
				}
				structure, ok := t.Type.(*ast.StructType)
				if !ok {
					continue
				}
				d := &declaration{doc: text(general.Doc, t.Doc), markers: readMarkers(detachedComment(file, general), general.Doc, t.Doc), fields: map[string]*ast.Field{}}
				for _, field := range structure.Fields.List {
					for _, name := range field.Names {
						d.fields[name.Name] = field
					}
				}
				r.specs[GoName{p.PkgPath, t.Name.Name}] = d
			}
		}
	}
}

// detachedComment returns the comment above the doc comment of a declaration, separated from it by an empty line. Kubernetes'
// types have the markers of client-gen there.
func detachedComment(file *ast.File, decl *ast.GenDecl) *ast.CommentGroup {
	var found *ast.CommentGroup
	for _, group := range file.Comments {
		if group.End() < decl.Pos() && group != decl.Doc {
			found = group
		}
	}
	for _, other := range file.Decls {
		if found != nil && other.End() > found.Pos() && other.Pos() < decl.Pos() {
			return nil // the comment belongs to another declaration
		}
	}
	return found
}

func text(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			return g.Text()
		}
	}
	return ""
}

// isKind reports whether a type embeds TypeMeta and ObjectMeta.
func (r *goReader) isKind(named *types.Named) bool {
	return embeds(named, "TypeMeta") && embeds(named, "ObjectMeta")
}

func embeds(named *types.Named, name string) bool {
	structure, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range structure.NumFields() {
		f := structure.Field(i)
		if inner, ok := f.Type().(*types.Named); ok && f.Embedded() && inner.Obj().Name() == name && inner.Obj().Pkg().Path() == metaSource {
			return true
		}
	}
	return false
}

// configPackage returns the import path of the apply configurations of an API package; "" if GoSource.Output does not contain the package.
func (r *goReader) configPackage(source string) string {
	for parent := source; parent != "." && parent != "/"; parent = path.Dir(parent) {
		if output, ok := r.source.Output[parent]; ok {
			return output + strings.TrimPrefix(source, parent)
		}
	}
	return ""
}

// structOf returns the apply configuration of a struct type; nil if the type has none because its package is not in
// GoSource.Output, it has no fields, or it implements MarshalJSON.
func (r *goReader) structOf(named *types.Named) *Type {
	if named.Obj().Pkg() == nil || named.TypeArgs().Len() > 0 {
		return nil
	}
	structure, isStruct := named.Underlying().(*types.Struct)
	output := r.configPackage(named.Obj().Pkg().Path())
	if !isStruct || structure.NumFields() == 0 || output == "" || hasMethod(named, "MarshalJSON") {
		return nil
	}
	name := GoName{named.Obj().Pkg().Path(), named.Obj().Name()}
	if t, ok := r.types[name]; ok {
		return t
	}
	t := &Type{Package: output, Name: name.Name}
	r.types[name] = t
	r.queue = append(r.queue, named)
	if d := r.specs[name]; d != nil {
		t.Doc, t.Atomic = d.doc, d.markers.first("structType") == "atomic"
	}
	return t
}

func hasMethod(named *types.Named, name string) bool {
	method, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), name)
	_, ok := method.(*types.Func)
	return ok
}

// readFields sets the fields of the apply configuration of a struct type, and its Root if the type is a kind.
func (r *goReader) readFields(named *types.Named) {
	name := GoName{named.Obj().Pkg().Path(), named.Obj().Name()}
	t, d := r.types[name], r.specs[name]
	structure := named.Underlying().(*types.Struct)
	for i := range structure.NumFields() {
		if f := r.field(structure.Field(i), structure.Tag(i), d); f != nil {
			t.Fields = append(t.Fields, f)
		}
	}
	if embeds(named, "TypeMeta") {
		t.Root = r.root(named, d)
	}
}

// field converts a struct field; it returns nil if encoding/json does not encode the field.
func (r *goReader) field(v *types.Var, tag string, d *declaration) *Field {
	json, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if json == "-" || !v.Exported() || json == "" && !v.Embedded() {
		return nil
	}
	f := &Field{Name: v.Name(), JSON: json}
	comment := markers{}
	if d != nil && d.fields[v.Name()] != nil {
		f.Doc, comment = text(d.fields[v.Name()].Doc), readMarkers(d.fields[v.Name()].Doc)
	}
	t := v.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	f.Type = r.expr(t)
	if v.Embedded() && f.Type.Shape == Struct {
		f.Embedding = Inlined
		if json != "" {
			f.Embedding = Metadata
		}
	}
	f.Merge = r.mergeTag(t, comment)
	f.Fixed = isIdentity(v)
	return f
}

// identity lists the fields of TypeMeta and ObjectMeta that identify the object or that only servers set.
var identity = []string{
	"Kind", "APIVersion", "Name", "GenerateName", "Namespace", "UID", "ResourceVersion", "Generation", "CreationTimestamp",
	"DeletionTimestamp", "DeletionGracePeriodSeconds", "SelfLink", "ManagedFields",
}

// isIdentity reports whether v is a field of TypeMeta or ObjectMeta in the list identity.
func isIdentity(v *types.Var) bool {
	if v.Pkg() == nil || v.Pkg().Path() != metaSource || !slices.Contains(identity, v.Name()) {
		return false
	}
	for _, owner := range []string{"TypeMeta", "ObjectMeta"} {
		structure, ok := v.Pkg().Scope().Lookup(owner).Type().Underlying().(*types.Struct)
		for i := 0; ok && i < structure.NumFields(); i++ {
			if structure.Field(i) == v {
				return true
			}
		}
	}
	return false
}

// expr converts the Go type of a field.
func (r *goReader) expr(t types.Type) *Expr {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return leaf("", t.Name())
	case *types.Pointer:
		return r.expr(t.Elem())
	case *types.Slice:
		return &Expr{Shape: List, Elem: r.expr(t.Elem())}
	case *types.Map:
		return &Expr{Shape: Map, Key: nameOf(t.Key()), Elem: r.expr(t.Elem())}
	case *types.Named:
		if target := r.structOf(t); target != nil {
			return &Expr{Shape: Struct, Name: GoName{target.Package, target.Name}, Target: target}
		}
		e := &Expr{Name: nameOf(t)}
		if m, ok := t.Underlying().(*types.Map); ok {
			e.Collection, e.Key = true, nameOf(m.Key())
		}
		return e
	}
	return anyExpr
}

func nameOf(t types.Type) GoName {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t.Obj().Pkg() == nil {
			return GoName{"", t.Obj().Name()}
		}
		return GoName{t.Obj().Pkg().Path(), t.Obj().Name()}
	case *types.Basic:
		return GoName{"", t.Name()}
	}
	return GoName{"", "string"}
}
