package repocheck

import (
	"bytes"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeExamples checks that each block of Go code in README.md and docs/ is the body of an example, which go test runs and
// whose output it checks, or a whole test in a file example_test.go.
func TestReadmeExamples(t *testing.T) {
	examples := shownCode(t)
	shown := 0
	for _, name := range trackedFiles(t) {
		if name != "README.md" && (!strings.HasPrefix(name, "docs/") || path.Ext(name) != ".md") {
			continue
		}
		for line, code := range goBlocks(t, name) {
			shown++
			if !examples[code] {
				t.Errorf("%s:%d: no example has this code: copy the body of an example, such as one of docs/readme_test.go, or a test of an example_test.go", name, line)
			}
		}
	}
	if shown == 0 {
		t.Error("README.md:1: shows no Go code: copy the body of an example into a ```go block")
	}
}

const architecture = "docs/architecture.md"

// TestArchitectureFolders checks that docs/architecture.md names every folder of the repository and of internal/.
func TestArchitectureFolders(t *testing.T) {
	page := readFile(t, architecture)
	folders := map[string]bool{"docs": true}
	for _, file := range goFiles(t) {
		parts := strings.Split(file.folder(), "/")
		if parts[0] == "internal" && len(parts) > 1 {
			folders[parts[0]+"/"+parts[1]] = true
		} else {
			folders[parts[0]] = true
		}
	}
	for folder := range folders {
		if !bytes.Contains(page, []byte("`"+folder+"/")) {
			t.Errorf("%s:1: does not name `%s/`: add it to the table of layers or to the paragraph below it", architecture, folder)
		}
	}
}

var shownPath = regexp.MustCompile("`([a-z.][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*)`")

// TestGuidePaths checks that the paths in CONTRIBUTING.md and docs/architecture.md exist. Names in capitals are placeholders.
func TestGuidePaths(t *testing.T) {
	for _, page := range []string{"CONTRIBUTING.md", architecture} {
		for _, found := range shownPath.FindAllSubmatch(readFile(t, page), -1) {
			name := string(found[1])
			if name != strings.ToLower(name) {
				continue
			}
			local := strings.HasPrefix(name, "authn/") || strings.HasPrefix(name, "authz/") || strings.HasPrefix(name, "builtin/")
			if _, err := os.Stat(filepath.Join(root, name)); err != nil && !local && strings.Count(strings.TrimSuffix(name, "/"), "/") > 0 {
				t.Errorf("%s:1: the path %s does not exist: correct it", page, name)
			}
		}
	}
}

var layerRow = regexp.MustCompile("(?m)^\\| `([^`]+)/` \\|")

// TestArchitectureLayers checks that the table of layers in docs/architecture.md equals the import rule.
func TestArchitectureLayers(t *testing.T) {
	_, table, _ := strings.Cut(string(readFile(t, architecture)), "<!-- layers -->")
	table, _, _ = strings.Cut(table, "<!-- end -->")
	var shown []string
	for _, row := range layerRow.FindAllStringSubmatch(table, -1) {
		shown = append(shown, row[1])
	}
	if !slices.Equal(shown, layers) {
		t.Errorf("%s:1: the table of layers is %q, the import rule is %q: make both equal", architecture, shown, layers)
	}
}

var (
	featureRow = regexp.MustCompile(`(?m)^\| (.+?) \|.*\| ([^|]*) \|$`)
	shownLink  = regexp.MustCompile(`\]\(([^)]*)\)`)
)

// TestReadmeProofs checks that each row of the README's comparison with other servers has links, and that each link
// leads to a Go test, a folder of scripts, or the conformance report.
func TestReadmeProofs(t *testing.T) {
	_, text, found := strings.Cut(string(readFile(t, "README.md")), "## Comparison")
	text, _, ended := strings.Cut(text, "\n## ")
	rows := featureRow.FindAllStringSubmatch(text, -1)
	if !found || !ended || len(rows) < 3 {
		t.Fatal("README.md:1: has no table under \"Comparison\"")
	}
	for _, row := range rows[1:] {
		links := shownLink.FindAllStringSubmatch(row[2], -1)
		if len(links) == 0 {
			t.Errorf("README.md:1: %q has no link: link to a test that shows it", row[1])
		}
		for _, link := range links {
			if !isProof(t, link[1]) {
				t.Errorf("README.md:1: %q links to %s, which is not a test", row[1], link[1])
			}
		}
	}
}

// isProof reports whether name, the target of a link, is a Go test, a folder of scripts or the conformance report.
func isProof(t *testing.T, name string) bool {
	t.Helper()
	if name == "docs/conformance.md" {
		return true
	}
	for _, file := range trackedFiles(t) {
		if file == name && strings.HasSuffix(name, "_test.go") || path.Dir(file) == name && path.Ext(file) == ".txtar" {
			return true
		}
	}
	return false
}

var shownTarget = regexp.MustCompile(`\bmake ([a-z]+-[-a-z]+|ci|help|kill|soak|peers)\b`)

// TestReadmeTargets checks that the make targets that Markdown files mention exist.
func TestReadmeTargets(t *testing.T) {
	makefile := readFile(t, "Makefile")
	for _, name := range trackedFiles(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, found := range shownTarget.FindAllSubmatch(readFile(t, name), -1) {
			if !bytes.Contains(makefile, []byte("\n"+string(found[1])+":")) {
				t.Errorf("%s:1: %s: the Makefile has no such target", name, found[0])
			}
		}
	}
}

// shownCode returns the code that documentation may contain: the bodies of examples, and the tests in files named
// example_test.go.
func shownCode(t *testing.T) map[string]bool {
	t.Helper()
	code := map[string]bool{}
	for _, f := range testFunctions(t, "Example") {
		code[outdented(f.source(f.syntax.Body.Lbrace+1, f.syntax.Body.Rbrace))] = true
	}
	for _, f := range testFunctions(t, "Test") {
		if path.Base(f.file.name) == "example_test.go" {
			code[f.source(f.syntax.Pos(), f.syntax.End())+"\n"] = true
		}
	}
	return code
}

// source returns the source text between the positions from and to in the file of f.
func (f declaredFunc) source(from, to token.Pos) string {
	return string(f.file.source[f.file.fset.Position(from).Offset:f.file.fset.Position(to).Offset])
}

// goBlocks returns the blocks of Go code in the Markdown file name. The keys are the line numbers at which the blocks
// start.
func goBlocks(t *testing.T, name string) map[int]string {
	t.Helper()
	blocks := map[int]string{}
	line, start := 0, 0
	for text := range bytes.Lines(readFile(t, name)) {
		line++
		switch {
		case start == 0 && string(text) == "```go\n":
			start = line + 1
		case start > 0 && string(text) == "```\n":
			start = 0
		case start > 0:
			blocks[start] += string(text)
		}
	}
	return blocks
}

// outdented returns body, the body of a function, with one level of indentation removed.
func outdented(body string) string {
	lines := strings.Split(strings.TrimPrefix(body, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}
