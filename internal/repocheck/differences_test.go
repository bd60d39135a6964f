package repocheck

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	listedTest = regexp.MustCompile("`([a-z]+)\\.(Test[A-Za-z0-9]+)`")
	// The other tests are TestDifferential and TestDifferences….
	namedForDifference = regexp.MustCompile(`\.TestDifference[A-Z]`)
	declaredTest       = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
)

// TestDifferencesAreTested holds docs/differences.md against the tests: every entry
// names tests that exist, and every test that is named for a difference has an entry.
func TestDifferencesAreTested(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, entry := range strings.Split(string(text), "\n### ")[1:] {
		title, _, _ := strings.Cut(entry, "\n")
		tests := listedTest.FindAllStringSubmatch(entry, -1)
		if len(tests) == 0 {
			t.Errorf("docs/differences.md: %q names no test: add a line Test: `package.TestName`", title)
		}
		for _, test := range tests {
			listed[test[1]+"."+test[2]] = true
		}
	}
	declared := declaredTests(t)
	for name := range listed {
		if !declared[name] {
			t.Errorf("docs/differences.md: there is no test %s: correct the name or write the test", name)
		}
	}
	for name := range declared {
		if namedForDifference.MatchString(name) && !listed[name] {
			t.Errorf("docs/differences.md: %s is not listed: add an entry", name)
		}
	}
}

// declaredTests returns the tests of the engine's packages as package.TestName.
func declaredTests(t *testing.T) map[string]bool {
	declared := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range declaredTest.FindAllStringSubmatch(string(text), -1) {
			declared[filepath.Base(filepath.Dir(file))+"."+test[1]] = true
		}
	}
	return declared
}
