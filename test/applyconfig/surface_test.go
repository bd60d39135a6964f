package applyconfig

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const (
	upstream = "k8s.io/client-go/applyconfigurations"
	ours     = "github.com/cadastre/cadastre/applyconfig"
)

// TestSurface checks that the packages are drop-in replacements of client-go's apply configurations: every exported
// function, method and field exists with the same type, except for import paths.
func TestSurface(t *testing.T) {
	config := &packages.Config{Context: t.Context(), Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps}
	loaded, err := packages.Load(config, upstream+"/...", ours+"/...")
	check(t, err)
	surfaces := map[string]map[string]string{}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors[0])
		}
		surfaces[p.PkgPath] = surface(p.Types)
	}
	compared := 0
	for path, want := range surfaces {
		below, isUpstream := strings.CutPrefix(path, upstream+"/")
		if !isUpstream || below == "internal" {
			continue
		}
		got := surfaces[ours+"/"+below]
		for name, signature := range want {
			compared++
			// client-go's extractor of unstructured objects is not part of an apply configuration.
			if below == "meta/v1" && strings.Contains(name, "Unstructured") {
				continue
			}
			// client-go's configurations of these kinds lack fields. Kubernetes has not served the kinds since 1.16.
			if (below == "extensions/v1beta1" || below == "apps/v1beta2") && strings.HasPrefix(name, "Scale") {
				continue
			}
			if got[name] != signature {
				t.Errorf("%s: %s is %q, want %q", below, name, got[name], signature)
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("compared %d names, want at least 10000: the packages of client-go were not found", compared)
	}
	t.Logf("compared %d functions, methods and fields", compared)
}

// surface maps the exported functions, methods and fields of a package to their types, in which import paths of apply
// configurations are omitted.
func surface(p *types.Package) map[string]string {
	all := map[string]string{}
	qualifier := func(p *types.Package) string {
		return strings.TrimPrefix(strings.TrimPrefix(p.Path(), upstream+"/"), ours+"/")
	}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		if function, ok := object.(*types.Func); ok {
			all[name] = signature(function, qualifier)
		}
		named, ok := object.Type().(*types.Named)
		if !ok {
			continue
		}
		if structure, ok := named.Underlying().(*types.Struct); ok {
			for i := range structure.NumFields() {
				f := structure.Field(i)
				all[name+"."+f.Name()] = types.TypeString(f.Type(), qualifier)
			}
		}
		for i := range named.NumMethods() {
			if m := named.Method(i); m.Exported() {
				all[name+"."+m.Name()+"()"] = signature(m, qualifier)
			}
		}
	}
	return all
}

// signature returns the types of the parameters and results of a function as text.
func signature(f *types.Func, qualifier types.Qualifier) string {
	s := f.Type().(*types.Signature)
	var parts []string
	for _, tuple := range []*types.Tuple{s.Params(), s.Results()} {
		for i := range tuple.Len() {
			parts = append(parts, types.TypeString(tuple.At(i).Type(), qualifier))
		}
		parts = append(parts, ";")
	}
	if s.Variadic() {
		parts = append(parts, "variadic")
	}
	return strings.Join(slices.Clip(parts), " ")
}
