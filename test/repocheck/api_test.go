package repocheck

import (
	"flag"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the API listings in docs/api")

// publicPackages are the packages that users import. Their exported API is listed in docs/api, so that a change to it
// is deliberate, and `go doc` of each fits on two screens.
var publicPackages = []string{
	"document", "fieldset", "schema", "apply", "strategic", "ownership", "client", "cadastretest", "applytest",
	"apiserver", "apiserver/admission",
}

// maxPackageDoc is the maximum number of lines of a public package comment: with the list of declarations that go doc
// prints it fits on two screens.
const maxPackageDoc = 75

func TestAPI(t *testing.T) {
	compiled := compiledPackages(t)
	for _, pkg := range publicPackages {
		imported, err := compiled.Import(modulePath + "/" + pkg)
		if err != nil {
			t.Fatal(err)
		}
		listing, file := exportedAPI(imported), path.Join("docs", "api", listingName(pkg))
		if *update {
			if err := os.WriteFile(filepath.Join(root, file), []byte(strings.Join(listing, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Run(pkg, func(t *testing.T) {
			compareAPI(t, file, strings.Split(strings.TrimSuffix(string(readFile(t, file)), "\n"), "\n"), listing)
		})
	}
}

// listingName returns the file name of a package's listing: apiserver/admission has apiserver.admission.txt.
func listingName(pkg string) string { return strings.ReplaceAll(pkg, "/", ".") + ".txt" }

// compareAPI reports the lines that were removed from a listing and those that were added.
func compareAPI(t *testing.T, file string, want, got []string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s: removed or changed: %s", file, line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("%s: added or changed: %s", file, line)
		}
	}
	if t.Failed() {
		t.Log("the public API has changed; if that is intended, run go test ./test/repocheck -run TestAPI -update and review the diff")
	}
}

// TestPublicDocs checks that each public package comment has an example and the guarantees, and no file map.
func TestPublicDocs(t *testing.T) {
	for _, file := range goFiles(t) {
		if !slices.Contains(publicPackages, file.folder()) || file.isTest() || file.syntax.Doc == nil {
			continue
		}
		text := file.syntax.Doc.Text()
		if n := strings.Count(text, "\n"); n > maxPackageDoc {
			t.Errorf("%s:1: the package comment has %d lines, the limit is %d: move details to docs/", file.name, n, maxPackageDoc)
		}
		if _, rest, _ := strings.Cut(text, "\n\n"); !strings.HasPrefix(rest, "\t") {
			t.Errorf("%s:1: the second paragraph of the package comment must be example code", file.name)
		}
		for _, word := range []string{"_test.go", "Stability: ", "Concurrency: ", "docs/api/" + listingName(file.folder())} {
			if !strings.Contains(text, word) {
				t.Errorf("%s:1: the package comment does not have %q: it names the runnable examples and states what users can rely on", file.name, word)
			}
		}
		for _, name := range goFileName.FindAllString(text, -1) {
			if !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s:1: the package comment names %s: put the file map below the package clause", file.name, name)
			}
		}
	}
}

// exportedAPI returns every exported constant, variable, function, type, field and method of a package with its type,
// one per line, sorted.
func exportedAPI(pkg *types.Package) []string {
	qualify := func(other *types.Package) string {
		if other == pkg {
			return ""
		}
		return other.Name()
	}
	var lines []string
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.TypeName:
			lines = append(lines, typeAPI(object, qualify)...)
		case *types.Const:
			lines = append(lines, types.ObjectString(object, qualify)+" = "+object.Val().ExactString())
		default:
			lines = append(lines, types.ObjectString(object, qualify))
		}
	}
	slices.Sort(lines)
	return lines
}

// typeAPI returns the lines of a type, its exported fields and its exported methods.
func typeAPI(object *types.TypeName, qualify types.Qualifier) []string {
	name := object.Name()
	named, ok := object.Type().(*types.Named)
	if !ok {
		return []string{"type " + name + " = " + types.TypeString(object.Type(), qualify)}
	}
	var lines []string
	if fields, ok := named.Underlying().(*types.Struct); ok {
		lines = append(lines, "type "+name+" struct")
		for i := range fields.NumFields() {
			if field := fields.Field(i); field.Exported() {
				line := "field " + name + "." + field.Name() + " " + types.TypeString(field.Type(), qualify)
				if tag := fields.Tag(i); tag != "" {
					line += " `" + tag + "`"
				}
				lines = append(lines, line)
			}
		}
	} else {
		lines = append(lines, "type "+name+" "+types.TypeString(named.Underlying(), qualify))
	}
	for method := range named.Methods() {
		if method.Exported() {
			lines = append(lines, types.ObjectString(method, qualify))
		}
	}
	return lines
}

// compiledPackages returns an importer of the public packages and of all packages that they depend on.
func compiledPackages(t *testing.T) types.Importer {
	t.Helper()
	arguments := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, pkg := range publicPackages {
		arguments = append(arguments, "./"+pkg)
	}
	list := exec.Command("go", arguments...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) { return os.Open(files[name]) })
}
