package applyconfiggen

import (
	"go/constant"
	"go/types"
	"path"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mergeTag returns the value of the struct tag merge for a field of type t. It sets Type.Item of the items of a list of
// type map. The list type of a list without the marker +listType is derived from its patch strategy.
func (r *goReader) mergeTag(t types.Type, comment markers) string {
	slice, isList := types.Unalias(t).Underlying().(*types.Slice)
	if !isList {
		if comment.first("mapType") == "atomic" || comment.first("structType") == "atomic" {
			return "atomic"
		}
		return ""
	}
	listType, keys := comment.first("listType"), comment["listMapKey"]
	if listType == "" && comment.first("patchStrategy") == "merge" {
		listType = "set"
		if key := comment.first("patchMergeKey"); key != "" {
			listType, keys = "map", []string{key}
		}
	}
	switch listType {
	case "set":
		return "set"
	case "map":
		return r.mapTag(slice.Elem(), keys)
	case "atomic":
		return "atomic"
	}
	return ""
}

// mapTag returns the value of the struct tag merge for a list of type map: its keys with their defaults.
func (r *goReader) mapTag(item types.Type, keys []string) string {
	if pointer, ok := item.(*types.Pointer); ok {
		item = pointer.Elem()
	}
	named, ok := types.Unalias(item).(*types.Named)
	if !ok {
		return "atomic"
	}
	if t := r.structOf(named); t != nil {
		t.Item = true
	}
	d := r.specs[nameOf(named)]
	tag := "map"
	for _, key := range keys {
		key = strings.Trim(key, `"`)
		tag += "," + key
		if d == nil {
			continue
		}
		for name, field := range d.fields {
			if json := jsonName(named, name); json != key {
				continue
			}
			if value, ok := readMarkers(field.Doc).defaultValue(); ok {
				tag += "=" + value
			}
		}
	}
	return tag
}

// jsonName returns the JSON name of a field of a struct.
func jsonName(named *types.Named, field string) string {
	structure, ok := named.Underlying().(*types.Struct)
	for i := 0; ok && i < structure.NumFields(); i++ {
		if structure.Field(i).Name() == field {
			name, _, _ := strings.Cut(reflect.StructTag(structure.Tag(i)).Get("json"), ",")
			return name
		}
	}
	return ""
}

// root returns the Root of a kind. The API version is the name of the Go package.
func (r *goReader) root(named *types.Named, d *declaration) *Root {
	p := r.packages[named.Obj().Pkg().Path()]
	if p == nil || d == nil {
		return &Root{Kind: named.Obj().Name(), APIVersion: path.Base(named.Obj().Pkg().Path())}
	}
	apiVersion := strings.TrimPrefix(groupOf(p)+"/"+p.Name, "/")
	hasStatus := slices.ContainsFunc(r.types[nameOf(named)].Fields, func(f *Field) bool { return f.Name == "Status" })
	return &Root{
		APIVersion: apiVersion, Kind: named.Obj().Name(), Namespaced: !d.markers.isClusterScoped(), HasMetadata: embeds(named, "ObjectMeta"),
		Object: nameOf(named), Subresources: d.markers.subresources(hasStatus), Embedded: !d.markers.has("genclient") && r.hasClients(p),
	}
}

// hasClients reports whether any struct of a package has the marker +genclient.
func (r *goReader) hasClients(p *packages.Package) bool {
	for name, d := range r.specs {
		if name.Path == p.PkgPath && d.markers.has("genclient") {
			return true
		}
	}
	return false
}

// groupOf returns the API group of a package: the value of the marker +groupName, the constant GroupName or, as in
// Kubernetes' generators, the name of the parent folder.
func groupOf(p *packages.Package) string {
	for _, file := range p.Syntax {
		for _, comment := range file.Comments {
			if m := readMarkers(comment); comment.Pos() < file.Name.Pos() && m.has("groupName") {
				return m.first("groupName")
			}
		}
	}
	if c, ok := p.Types.Scope().Lookup("GroupName").(*types.Const); ok && c.Val().Kind() == constant.String {
		return constant.StringVal(c.Val())
	}
	return path.Base(path.Dir(p.PkgPath))
}

// resultPackages returns the packages to generate, one per API package that matches GoSource.Patterns.
func (r *goReader) resultPackages() ([]*Package, error) {
	byPath := map[string]*Package{}
	var all []*Package
	for name, t := range r.types {
		if r.packages[name.Path] == nil {
			continue // other packages' apply configurations exist already
		}
		p := byPath[t.Package]
		if p == nil {
			source := strings.Split(name.Path, "/")
			p = &Package{Path: t.Package, Name: path.Base(t.Package), Doc: strings.Join(source[max(0, len(source)-2):], "/")}
			byPath[t.Package], all = p, append(all, p)
		}
		p.Types = append(p.Types, t)
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}
