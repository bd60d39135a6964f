package repocheck

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPackageDocs(t *testing.T) {
	documented := map[string]bool{}
	first := map[string]*goFile{}
	for _, file := range goFiles(t) {
		if file.isTest() {
			continue
		}
		if first[file.folder()] == nil {
			first[file.folder()] = file
		}
		if file.syntax.Doc == nil {
			continue
		}
		documented[file.folder()] = true
		if opening := packageDocOpening(file); !strings.HasPrefix(file.syntax.Doc.Text(), opening) {
			t.Errorf("%s:%d: the package comment must open with %q", file.name, file.line(file.syntax.Doc.Pos()), opening)
		}
	}
	for folder, file := range first {
		if !documented[folder] {
			t.Errorf("%s:1: package %s has no package comment: describe its purpose in doc.go", file.name, folder)
		}
	}
}

// packageDocOpening returns the required start of a package comment: "Package NAME", or "Command" for a program.
func packageDocOpening(file *goFile) string {
	if file.syntax.Name.Name == "main" {
		return "Command "
	}
	return "Package " + file.syntax.Name.Name + " "
}

// mapped lists the packages whose doc.go contains a file map, which names every file. In public packages the file map
// is below the package clause, so that it is not part of the documentation for users.
var mapped = []string{"document", "schema", "fieldset", "apply", "strategic", "ownership", "client", "applytest", "test/peers", "test/clients/target", "test/clients/script", "test/clients/differential", "test/clients/material"}

var goFileName = regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)

// TestFileMaps checks that the doc.go of each package in mapped names every file of the package, and only existing
// files.
func TestFileMaps(t *testing.T) {
	files := map[string][]*goFile{}
	for _, file := range goFiles(t) {
		files[file.folder()] = append(files[file.folder()], file)
	}
	for _, folder := range mapped {
		named := namedFiles(t, folder+"/doc.go")
		for _, file := range files[folder] {
			name := path.Base(file.name)
			if _, ok := named[name]; !ok && name != "doc.go" && !file.isTest() && !file.isGenerated() {
				t.Errorf("%s/doc.go:1: does not name %s: describe the file in one line", folder, name)
			}
		}
		for name, line := range named {
			if !slices.ContainsFunc(files[folder], func(f *goFile) bool { return path.Base(f.name) == name }) {
				t.Errorf("%s/doc.go:%d: %s does not exist: correct the name or remove it", folder, line, name)
			}
		}
	}
}

// namedFiles returns the names of Go files in the file name, each with the number of the last line that contains it.
func namedFiles(t *testing.T, name string) map[string]int {
	t.Helper()
	named := map[string]int{}
	line := 0
	for text := range bytes.Lines(readFile(t, name)) {
		line++
		for _, found := range goFileName.FindAll(text, -1) {
			named[string(found)] = line
		}
	}
	return named
}

// testName matches the name of a test or benchmark, with the keyword func if it is a declaration in example code.
var testName = regexp.MustCompile(`(?:\bfunc )?\b(?:Benchmark|Fuzz|Test)[A-Z][A-Za-z0-9]*`)

// TestNamedTests checks that all tests and benchmarks exist which comments name, as the proof of a statement or the reason for an
// optimization. They may be in any module.
func TestNamedTests(t *testing.T) {
	declared := map[string]bool{}
	files := goFiles(t)
	for _, file := range files {
		for _, decl := range file.syntax.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && file.isTest() {
				declared[function.Name.Name] = true
			}
		}
	}
	for _, file := range files {
		if file.isTest() || strings.HasPrefix(file.folder(), "test/upstream/") { // Kubernetes' test framework has types with such names
			continue
		}
		for _, group := range file.syntax.Comments {
			for _, name := range testName.FindAllString(group.Text(), -1) {
				if !declared[name] && !strings.HasPrefix(name, "func ") {
					t.Errorf("%s:%d: %s does not exist: correct the name, or remove the statement", file.name, file.line(group.Pos()), name)
				}
			}
		}
	}
}
