package repocheck

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

const (
	differencesName    = "docs/differences.md"
	notImplementedName = "docs/not-implemented.md"
)

var (
	listedTest = regexp.MustCompile("`([a-z]+\\.Test[A-Za-z0-9]+)`")
	// TestDifferential and TestDifferences… do not match, because they are not tests of single differences.
	namedForDifference = regexp.MustCompile(`\.TestDifference[A-Z]`)
)

// TestDifferencesAreTested checks that every entry of docs/differences.md names at least one test, that all tests exist
// which docs/differences.md and docs/not-implemented.md name, and that every TestDifference… is named on one of these
// pages.
func TestDifferencesAreTested(t *testing.T) {
	declared := declaredTests(t)
	listed := map[string]bool{}
	for _, found := range listedTest.FindAllSubmatch(readFile(t, notImplementedName), -1) {
		name := string(found[1])
		listed[name] = true
		if _, ok := declared[name]; !ok {
			t.Errorf("%s:1: test %s does not exist: correct the name or write the test", notImplementedName, name)
		}
	}
	for _, entry := range differences(t) {
		if len(entry.tests) == 0 {
			t.Errorf("%s:%d: the entry names no test: add a line Test: `package.TestName`", differencesName, entry.line)
		}
		for name, line := range entry.tests {
			listed[name] = true
			if _, ok := declared[name]; !ok {
				t.Errorf("%s:%d: test %s does not exist: correct the name or write the test", differencesName, line, name)
			}
		}
	}
	for name, test := range declared {
		if namedForDifference.MatchString(name) && !listed[name] {
			t.Errorf("%s:%d: %s is listed neither in %s nor in %s: add an entry", test.file.name, test.file.line(test.syntax.Pos()), name, differencesName, notImplementedName)
		}
	}
}

// difference is an entry of docs/differences.md. line is the line number of its heading, and tests maps the tests that
// it names to their line numbers.
type difference struct {
	line  int
	tests map[string]int
}

func differences(t *testing.T) []difference {
	t.Helper()
	var entries []difference
	line := 0
	for text := range bytes.Lines(readFile(t, differencesName)) {
		line++
		if bytes.HasPrefix(text, []byte("### ")) {
			entries = append(entries, difference{line, map[string]int{}})
		}
		for _, found := range listedTest.FindAllSubmatch(text, -1) {
			if len(entries) > 0 {
				entries[len(entries)-1].tests[string(found[1])] = line
			}
		}
	}
	if len(entries) == 0 {
		t.Fatalf("%s:1: found no entry: an entry is a heading of the third level", differencesName)
	}
	return entries
}

// declaredFunc is a function declaration and the file that contains it.
type declaredFunc struct {
	file   *goFile
	syntax *ast.FuncDecl
}

// declaredTests returns a map from package.TestName to the test, for all tests of the root module.
func declaredTests(t *testing.T) map[string]declaredFunc {
	t.Helper()
	declared := map[string]declaredFunc{}
	for _, f := range testFunctions(t, "Test") {
		declared[path.Base(f.file.folder())+"."+f.syntax.Name.Name] = f
	}
	return declared
}

// testFunctions returns the functions in test files of the root module whose names start with prefix.
func testFunctions(t *testing.T, prefix string) []declaredFunc {
	t.Helper()
	var functions []declaredFunc
	for _, file := range goFiles(t) {
		if !file.isTest() || !file.inRootModule() && file.folder() != "applyconfig" { // a module that users import
			continue
		}
		for _, decl := range file.syntax.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, prefix) {
				functions = append(functions, declaredFunc{file, f})
			}
		}
	}
	return functions
}
