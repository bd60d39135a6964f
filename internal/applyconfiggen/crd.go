package applyconfiggen

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// CRDSource generates apply configurations from CustomResourceDefinitions.
type CRDSource struct {
	Definitions []document.Value
	// Output is the import path of the parent of the generated packages, which are named GROUP/VERSION.
	Output string
}

// read returns one package per API group and served version.
func (s CRDSource) read() ([]*Package, error) {
	byPath, meta := map[string]*Package{}, newMetadata()
	r := newSchemaReader()
	definitions := slices.Clone(s.Definitions)
	slices.SortStableFunc(definitions, func(a, b document.Value) int {
		return strings.Compare(a.Lookup("metadata", "name").Text(), b.Lookup("metadata", "name").Text())
	})
	for _, d := range definitions {
		name := d.Lookup("metadata", "name").Text()
		group, kind := d.Lookup("spec", "group").Text(), d.Lookup("spec", "names", "kind").Text()
		if d.Get("apiVersion").Text() != "apiextensions.k8s.io/v1" || !isGroup(group) || !isIdentifier(kind) {
			return nil, fmt.Errorf("%s: expected a CustomResourceDefinition of apiextensions.k8s.io/v1 with group and kind, received %s %s of %s",
				name, d.Get("kind").Text(), kind, d.Get("apiVersion").Text())
		}
		for _, v := range d.Lookup("spec", "versions").Items() {
			version := v.Get("name").Text()
			if served := v.Get("served"); !served.IsAbsent() && !served.Bool() || !isIdentifier(version) {
				continue
			}
			output := path.Join(s.Output, groupPath(group, version))
			if byPath[output] == nil {
				byPath[output] = &Package{Path: output, Name: version, Doc: group + "/" + version}
			}
			if byPath[output].Doc != group+"/"+version {
				return nil, fmt.Errorf("%s: expected one group per folder %s, received %s and %s/%s; generate them into different folders",
					name, output, byPath[output].Doc, group, version)
			}
			r.version(output, d, v, &Root{
				APIVersion: group + "/" + version, Kind: kind, Namespaced: d.Lookup("spec", "scope").Text() != "Cluster", HasMetadata: true,
				Object: GoName{"", "any"}, Subresources: subresources(v),
			}, meta)
		}
	}
	return r.packages(byPath), r.err
}

// version declares the structs for one version of a CustomResourceDefinition.
func (r *schemaReader) version(output string, definition, version document.Value, root *Root, meta *metadata) {
	schema := version.Lookup("schema", "openAPIV3Schema")
	properties := schema.Get("properties")
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		properties = properties.Without(name)
	}
	t := r.declare(output, root.Kind, schema)
	r.fields(t, document.NewMap(document.Field{Name: "properties", Value: properties}))
	r.kind(t, root, meta)
}

// subresources returns the subresources of a version for which Extract functions are generated.
func subresources(version document.Value) (names []string) {
	for _, name := range []string{"scale", "status"} {
		if version.Get("subresources").Get(name).Kind() == document.Map {
			names = append(names, name)
		}
	}
	return names
}

// packages adds the structs that the reader has declared to their packages, and returns the packages sorted by path.
func (r *schemaReader) packages(byPath map[string]*Package) []*Package {
	var all []*Package
	for _, t := range r.types {
		if p := byPath[t.Package]; p != nil {
			p.Types = append(p.Types, t)
		}
	}
	for _, p := range byPath {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// isGroup reports whether text is the name of an API group other than the core group. Group names become names of folders, so they must not
// contain other characters.
func isGroup(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.'
	}) && text[0] != '.'
}

// isIdentifier reports whether text is a Go identifier of ASCII letters and digits. Names become part of the generated
// source, so they must not contain other characters.
func isIdentifier(text string) bool {
	for i, c := range text {
		if c < 0x80 && c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		return false
	}
	return text != ""
}
