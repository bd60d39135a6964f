package repocheck

import (
	"bytes"
	"strings"
	"testing"
)

// TestReadmeExamples holds the Go code in README.md against the examples that go test
// runs: each block is all of one, output included.
func TestReadmeExamples(t *testing.T) {
	examples := map[string]bool{}
	for _, f := range testFunctions(t, "Example") {
		start, end := f.file.fset.Position(f.syntax.Body.Lbrace).Offset, f.file.fset.Position(f.syntax.Body.Rbrace).Offset
		examples[outdented(string(f.file.source[start+1:end]))] = true
	}
	blocks := goBlocks(t, "README.md")
	for line, code := range blocks {
		if !examples[code] {
			t.Errorf("README.md:%d: no example has this code: copy the body of one, such as docs/readme_test.go has", line)
		}
	}
	if len(blocks) == 0 {
		t.Error("README.md:1: shows no Go code: copy the body of an example into a ```go block")
	}
}

// goBlocks returns the Go code in a Markdown file by the line at which it starts.
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

// outdented returns the lines of a function's body as they are outside of one.
func outdented(body string) string {
	lines := strings.Split(strings.TrimPrefix(body, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}
