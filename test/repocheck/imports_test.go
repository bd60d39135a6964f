package repocheck

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers lists the folders of the product from top to bottom. A package imports only packages of its own layer and of
// lower layers, so that every package can be read, tested and replaced without its callers: storage is independent of
// the API, the API is independent of HTTP, and the library at the bottom does no I/O and is usable without the server.
// A package belongs to the longest entry that contains its folder.
var layers = []string{
	"cmd",
	"internal/cli",
	"internal/applyconfiggen",
	"cadastretest",
	"apiserver",
	"internal/app",
	"internal/server",
	"internal/server/flowcontrol",
	"internal/controllers",
	"internal/registry",
	"internal/admission",
	"apiserver/admission",
	"internal/auth",
	"internal/discovery",
	"internal/api/crd",
	"internal/encoding",
	"internal/api",
	"internal/watchcache",
	"internal/storage",
	"internal/lib/webhookclient",
	"internal/metrics",
	"internal/lib/tracing",
	"applytest",
	"internal/cli/cluster",
	"internal/api/scheme",
	"client",
	"ownership",
	"strategic",
	"apply",
	"internal/lib/fastset",
	"fieldset",
	"internal/lib/fieldsv1",
	"schema",
	"internal/lib/fastdoc",
	"document",
	"internal/lib/access",
	"internal/lib/arena",
	"internal/lib/parallel",
	"internal/lib/scan",
	"internal/lib/reload",
	"internal/lib/testwait",
}

// outsideLayers maps the folders that are used only in development to the reason. Their packages may import any
// package, but the product must not import them.
var outsideLayers = map[string]string{
	"docs":           "runs the commands and the code that the documentation shows",
	"test/repocheck": "checks the repository itself",
}

// oracles lists the packages with which tests and benchmarks compare the product. The product must not call them,
// because comparing an engine with itself proves nothing.
var oracles = []string{
	"sigs.k8s.io/structured-merge-diff",
	"k8s.io/apimachinery/pkg/util/strategicpatch",
	"k8s.io/apimachinery/pkg/util/managedfields",
}

func TestImportDirection(t *testing.T) {
	for _, file := range productFiles(t) {
		from := layerOf(file.folder())
		if from < 0 {
			if _, known := outsideLayers[file.folder()]; !known {
				t.Errorf("%s:1: folder %s is in no layer: add it to layers or outsideLayers in imports_test.go", file.name, file.folder())
			}
			continue
		}
		for _, spec := range file.syntax.Imports {
			folder, ours := strings.CutPrefix(importPath(spec), modulePath+"/")
			if !ours {
				continue
			}
			switch to := layerOf(folder); {
			case to < 0:
				t.Errorf("%s:%d: imports %s, which is in no layer: only tests may", file.name, file.line(spec.Pos()), folder)
			case to < from:
				t.Errorf("%s:%d: %s imports %s, which is above it: move the shared part to %s or below, or pass it in",
					file.name, file.line(spec.Pos()), layers[from], layers[to], layers[from])
			}
		}
	}
}

func TestOraclesStayInTests(t *testing.T) {
	for _, file := range productFiles(t) {
		for _, spec := range file.syntax.Imports {
			if slices.ContainsFunc(oracles, func(oracle string) bool { return isWithin(importPath(spec), oracle) }) {
				t.Errorf("%s:%d: must not import %s: it is an oracle for tests", file.name, file.line(spec.Pos()), importPath(spec))
			}
		}
	}
}

func TestLayerOf(t *testing.T) {
	for folder, want := range map[string]string{
		"apply":                    "apply",
		"internal/storage/pebble":  "internal/storage",
		"internal/encoding":        "internal/encoding",
		"internal/api/scheme/more": "internal/api/scheme",
		"applytests":               "",
	} {
		got := ""
		if i := layerOf(folder); i >= 0 {
			got = layers[i]
		}
		if got != want {
			t.Errorf("layers[layerOf(%q)] = %q, want %q", folder, got, want)
		}
	}
}

// layerOf returns the index in layers of the longest entry that contains folder, or -1 if no entry contains it.
func layerOf(folder string) int {
	found := -1
	for i, layer := range layers {
		if isWithin(folder, layer) && (found < 0 || len(layer) > len(layers[found])) {
			found = i
		}
	}
	return found
}

// isWithin reports whether path is parent or is below parent.
func isWithin(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (rest == "" || rest[0] == '/')
}

// productFiles returns the files that are compiled into users' programs: the files of the root module that are not
// tests.
func productFiles(t *testing.T) []*goFile {
	t.Helper()
	return slices.DeleteFunc(goFiles(t), func(f *goFile) bool { return f.isTest() || !f.inRootModule() })
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // cannot fail: the parser has checked the literal
	}
	return path
}
