// Command generate makes markers.txt of the comments in the Go types of Kubernetes: what they say
// about fields that the types themselves do not. Run it by go generate when the version of
// k8s.io/api has changed, or when a kind of another group has become built-in.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/internal/kinds"
)

const header = `# What comments in the Go types of Kubernetes say about them, made by generate: do not edit.
#
#   PACKAGE.TYPE [word…]
#   	FIELD [word…]
#
# Words: optional, required; list=TYPE, key=FIELD, map=TYPE (how it merges); union,
# discriminator; default=JSON; enum=JSON (last, the rest of the line).
`

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("expected the name of the file to write")
	}
	text, err := markers()
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(header+text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// packages returns the packages that types of built-in kinds are in.
func packages() []string {
	var names []string
	for _, k := range kinds.Builtin() {
		for _, version := range k.Versions {
			parts := strings.Split(kinds.TypeName(k.Group, version, k.Name), ".") // io.k8s.api.GROUP.VERSION.NAME
			names = append(names, path.Join("k8s.io/api", parts[3], parts[4]))
		}
	}
	names = append(names, "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1")
	slices.Sort(names)
	const machinery = "k8s.io/apimachinery/pkg/"
	return append(slices.Compact(names), machinery+"api/resource", machinery+"apis/meta/v1", machinery+"runtime", machinery+"util/intstr", machinery+"version")
}

func markers() (string, error) {
	list, err := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}, packages()...)...).Output()
	if err != nil {
		return "", fmt.Errorf("find the source of the types: %w", err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(list)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		types, err := readPackage(folder)
		if err != nil {
			return "", err
		}
		for _, t := range types {
			t.write(&b, name)
		}
	}
	return b.String(), nil
}

// markedType is a type and what its comments say, or its fields'.
type markedType struct {
	name   string
	words  []string
	fields []string // lines
}

func (t *markedType) write(b *strings.Builder, pkg string) {
	if len(t.words) == 0 && len(t.fields) == 0 {
		return
	}
	fmt.Fprintln(b, strings.Join(append([]string{pkg + "." + t.name}, t.words...), " "))
	for _, line := range t.fields {
		fmt.Fprintln(b, "\t"+line)
	}
}

// readPackage returns the types of a package in the order of their names.
func readPackage(folder string) ([]*markedType, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, &fs.PathError{Op: "read", Path: folder, Err: errors.New("expected Go files, received none")}
	}
	source := &source{constants: map[string][]string{}, values: map[string]string{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		source.read(file)
	}
	source.addEnums()
	slices.SortFunc(source.types, func(a, b *markedType) int { return cmp.Compare(a.name, b.name) })
	return source.types, nil
}

// source is what was read of a package.
type source struct {
	types     []*markedType
	enums     []*markedType
	constants map[string][]string // Go literals of the constants of a type
	values    map[string]string   // Go literals of all constants, for defaults that refer to them
}

func (s *source) read(file *ast.File) {
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				s.readConstant(group, spec)
			case *ast.TypeSpec:
				s.readType(spec, cmp.Or(spec.Doc, group.Doc))
			}
		}
	}
}

func (s *source) readConstant(group *ast.GenDecl, spec *ast.ValueSpec) {
	if group.Tok != token.CONST || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	s.values[spec.Names[0].Name] = literal.Value
	if named, ok := spec.Type.(*ast.Ident); ok {
		s.constants[named.Name] = append(s.constants[named.Name], literal.Value)
	}
}

func (s *source) readType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	t := &markedType{name: spec.Name.Name}
	said := marked(doc)
	s.types = append(s.types, t)
	if _, isEnum := said["enum"]; isEnum {
		s.enums = append(s.enums, t)
	}
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	if _, isUnion := said["union"]; isUnion {
		t.words = append(t.words, "union")
	}
	t.words = append(t.words, mergeWords(said)...)
	for _, field := range structure.Fields.List {
		if line := s.fieldLine(field); line != "" {
			t.fields = append(t.fields, line)
		}
	}
}

// addEnums tells the values of types that are enums, once all constants are known.
func (s *source) addEnums() {
	for _, t := range s.enums {
		values := slices.Clone(s.constants[t.name])
		slices.Sort(values)
		if len(values) > 0 {
			t.words = append(t.words, "enum=["+strings.Join(slices.Compact(values), ",")+"]")
		}
	}
}
