package repocheck

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pipeline lists the folders in the order in which data passes through them. A folder imports only
// those before it. A folder of the server may live under internal/ and keeps its place.
var pipeline = []string{
	"scan",
	"document",
	"schema",
	"fieldset",
	"apply",
	"strategic",
	"ownership",
	"kinds",
	"expression",
	"rules",
	"structural",
	"packed",
	"codec",
	"catalog",
	"store",
	"cache",
	"follow",
	"identity",
	"rbac",
	"metrics",
	"webhook",
	"admit",
	"objects",
	"addresses",
	"tasks",
	"namespaces",
	"custom",
	"garbage",
	"expiry",
	"election",

	"admission",
	"hooks",
	"policies",
	"server",
	"client",
	"cadastretest",
	"applytest",
	"cluster",
	"cli",
	"cmd",
}

// outsidePipeline lists the folders that serve development. They may import anything; the pipeline
// imports none of them, save from tests.
var outsidePipeline = map[string]string{
	"internal/repocheck": "checks the repository itself",
}

// A ban forbids product code in a folder (all folders when empty) to import a package and those below it.
type ban struct {
	folders []string
	imports string
	reason  string
}

var library = []string{"document", "schema", "fieldset", "apply", "strategic", "ownership", "client", "applytest"}

var bans = []ban{
	{nil, "sigs.k8s.io/structured-merge-diff", "it is the oracle that tests compare us with; an engine that calls it proves nothing"},
	{nil, "k8s.io/apimachinery/pkg/util/strategicpatch", "it is the oracle of strategic/; only tests may call it"},
	{nil, "k8s.io/apimachinery/pkg/util/managedfields", "it wraps structured-merge-diff; only tests may call it"},
	{nil, modulePath + "/bench", "benchmarks measure the product, the product does not know them"},
	{nil, modulePath + "/peers", "the peers are what we are compared with; only tests and benchmarks start them"},
	{nil, modulePath + "/clients", "the clients try the product, the product does not know them"},
	{library, modulePath + "/internal/kinds", "the library is usable without the server"},
	{library, modulePath + "/internal/codec", "the library is usable without the server"},
	{library, modulePath + "/internal/store", "the library is usable without the server"},
	{library, modulePath + "/internal/cache", "the library is usable without the server"},
	{library, modulePath + "/internal/rules", "the library is usable without the server"},
	{library, modulePath + "/internal/structural", "the library is usable without the server"},
	{library, modulePath + "/internal/catalog", "the library is usable without the server"},
	{library, modulePath + "/internal/identity", "the library is usable without the server"},
	{library, modulePath + "/internal/follow", "the library is usable without the server"},
	{library, modulePath + "/internal/rbac", "the library is usable without the server"},
	{library, modulePath + "/internal/metrics", "the library is usable without the server"},
	{library, modulePath + "/internal/admit", "the library is usable without the server"},
	{library, modulePath + "/internal/hooks", "the library is usable without the server"},
	{library, modulePath + "/internal/policies", "the library is usable without the server"},
	{library, modulePath + "/internal/expression", "the library is usable without the server"},
	{library, modulePath + "/internal/webhook", "the library is usable without the server"},
	{library, modulePath + "/internal/objects", "the library is usable without the server"},
	{library, modulePath + "/internal/addresses", "the library is usable without the server"},
	{library, modulePath + "/internal/namespaces", "the library is usable without the server"},
	{library, modulePath + "/internal/custom", "the library is usable without the server"},
	{library, modulePath + "/internal/tasks", "the library is usable without the server"},
	{library, modulePath + "/internal/garbage", "the library is usable without the server"},
	{library, modulePath + "/internal/expiry", "the library is usable without the server"},
	{library, modulePath + "/internal/election", "the library is usable without the server"},
	{library, modulePath + "/internal/server", "the library is usable without the server"},
	{library, modulePath + "/kinds", "the library is usable without the server"},
	{library, modulePath + "/codec", "the library is usable without the server"},
	{library, modulePath + "/store", "the library is usable without the server"},
	{library, modulePath + "/cache", "the library is usable without the server"},
	{library, modulePath + "/server", "the library is usable without the server"},
	{library, modulePath + "/cli", "the library is usable without the command line"},
}

func TestImportDirection(t *testing.T) {
	for _, file := range productFiles(t) {
		place := stage(file.folder())
		if place < 0 {
			if _, known := outsidePipeline[file.folder()]; !known {
				t.Errorf("%s:1: folder %s has no place in the pipeline: add it to pipeline or outsidePipeline in imports_test.go", file.name, file.folder())
			}
			continue
		}
		for _, spec := range file.syntax.Imports {
			folder, ours := strings.CutPrefix(importPath(spec), modulePath+"/")
			if !ours {
				continue
			}
			switch imported := stage(folder); {
			case imported < 0:
				t.Errorf("%s:%d: imports %s, which is outside the pipeline: only tests may", file.name, file.line(spec.Pos()), folder)
			case imported > place:
				t.Errorf("%s:%d: %s imports %s, which comes after it: move the shared part to %s or before, or pass it in",
					file.name, file.line(spec.Pos()), pipeline[place], pipeline[imported], pipeline[place])
			}
		}
	}
}

func TestImportBans(t *testing.T) {
	for _, file := range productFiles(t) {
		for _, spec := range file.syntax.Imports {
			for _, ban := range bans {
				if ban.covers(file.folder(), importPath(spec)) {
					t.Errorf("%s:%d: must not import %s: %s", file.name, file.line(spec.Pos()), importPath(spec), ban.reason)
				}
			}
		}
	}
}

func TestBanCovers(t *testing.T) {
	everywhere := ban{imports: "example.org/oracle"}
	inLibrary := ban{folders: []string{"apply"}, imports: "example.org/server"}
	for _, test := range []struct {
		ban             ban
		folder, imports string
		want            bool
	}{
		{everywhere, "apply", "example.org/oracle", true},
		{everywhere, "internal/server", "example.org/oracle/v6/typed", true},
		{everywhere, "apply", "example.org/oracles", false},
		{inLibrary, "apply", "example.org/server", true},
		{inLibrary, "apply/plain", "example.org/server", true},
		{inLibrary, "cli", "example.org/server", false},
	} {
		if got := test.ban.covers(test.folder, test.imports); got != test.want {
			t.Errorf("ban %q on %q in folder %q: %v, want %v", test.ban.imports, test.imports, test.folder, got, test.want)
		}
	}
}

func (b ban) covers(folder, imports string) bool {
	if !within(imports, b.imports) {
		return false
	}
	return len(b.folders) == 0 || slices.ContainsFunc(b.folders, func(f string) bool { return within(folder, f) })
}

// stage is the folder's place in the pipeline, or -1.
func stage(folder string) int {
	folder = strings.TrimPrefix(folder, "internal/")
	return slices.IndexFunc(pipeline, func(place string) bool { return within(folder, place) })
}

// within says whether path is parent or lies below it.
func within(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (rest == "" || rest[0] == '/')
}

// productFiles are those that users compile: the root module's, tests left out.
func productFiles(t *testing.T) []*goFile {
	t.Helper()
	return slices.DeleteFunc(goFiles(t), func(f *goFile) bool { return f.isTest() || !f.inRootModule() })
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser checked it
	}
	return path
}
