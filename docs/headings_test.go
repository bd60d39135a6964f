package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// vagueWords matches words of headings that do not name a topic: a reader who searches for "authentication" does not find the
// heading "Who may come".
var vagueWords = regexp.MustCompile(`(?i)\b(who|whom|whose|whoever|whatever|nobody|somebody|anybody|they|them|says?|told|things?|others|ways?|what (they|it|is|are))\b`)

// TestHeadings checks that headings of the manual and of the README contain no vague words, and that no page has two equal
// headings of the second level.
func TestHeadings(t *testing.T) {
	check := func(name string) {
		seen := map[string]bool{}
		for i, line := range strings.Split(withoutCode(readPage(t, name)), "\n") {
			heading := strings.TrimLeft(line, "#")
			if heading == line || !strings.HasPrefix(heading, " ") {
				continue
			}
			if found := vagueWords.FindString(heading); found != "" {
				t.Errorf("%s:%d: the heading %q contains %q: name the topic with the term that readers search for", name, i+1, line, found)
			}
			if strings.HasPrefix(line, "## ") && seen[line] {
				t.Errorf("%s:%d: the heading %q occurs twice: links only reach the first one; rename one of them", name, i+1, line)
			}
			seen[line] = true
		}
	}
	check("../README.md")
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		// The headings of differences.md are names of tests and are checked by repocheck.
		if err == nil && filepath.Ext(name) == ".md" && name != "differences.md" {
			check(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// maxReadmeWords is the maximum number of words of the README before its section Documentation.
const maxReadmeWords = 700

// TestReadmeLength checks that the README has at most maxReadmeWords words before the section Documentation.
func TestReadmeLength(t *testing.T) {
	introduction, _, found := strings.Cut(readPage(t, "../README.md"), "\n## Documentation\n")
	if !found {
		t.Fatal("README.md: the section Documentation is missing")
	}
	if words := len(strings.Fields(introduction)); words > maxReadmeWords {
		t.Errorf("README.md: %d words before the section Documentation, want at most %d: move details to docs/", words, maxReadmeWords)
	}
}

// TestManualIndex checks that docs/README.md links to every page of the manual, and to the index page of docs/cli.
func TestManualIndex(t *testing.T) {
	index := readPage(t, "README.md")
	for _, pattern := range []string{"*.md", "server/*.md", "cli/README.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pages {
			if name != "README.md" && !strings.Contains(index, "]("+filepath.ToSlash(name)+")") {
				t.Errorf("docs/README.md: the table has no link to %s", name)
			}
		}
	}
}
