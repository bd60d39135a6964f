package docs_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// markdownLink matches [text](target).
var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks checks that the target of every relative link in a Markdown file of the repository exists: the file and, if the link
// has a fragment, the heading.
func TestLinks(t *testing.T) {
	headings := map[string][]string{}
	links := 0
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != ".." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"testdata", "bin"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir(), filepath.Ext(name) != ".md":
			return nil
		}
		for i, line := range strings.Split(withoutCode(readPage(t, name)), "\n") {
			for _, found := range markdownLink.FindAllStringSubmatch(line, -1) {
				links++
				if problem := checkLink(t, name, found[1], headings); problem != "" {
					t.Errorf("%s:%d: %s: %s", name, i+1, found[1], problem)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("found %d links, want at least 100", links)
	}
}

// checkLink returns the problem of link, a link in page; "" if there is none or link refers to another site. headings caches the
// anchors of pages by file name.
func checkLink(t *testing.T, page, link string, headings map[string][]string) string {
	target, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if target.Scheme != "" || target.Host != "" {
		return ""
	}
	file := page
	if target.Path != "" {
		file = filepath.Join(filepath.Dir(page), filepath.FromSlash(target.Path))
	}
	if _, err := os.Stat(file); err != nil {
		return "expected an existing file"
	}
	if target.Fragment == "" || filepath.Ext(file) != ".md" {
		return ""
	}
	if headings[file] == nil {
		headings[file] = anchors(readPage(t, file))
	}
	if !slices.Contains(headings[file], target.Fragment) {
		return "expected an existing heading"
	}
	return ""
}

// anchors returns the fragments that GitHub generates for the headings of page: in lower case, with hyphens instead of
// spaces, and without punctuation.
func anchors(page string) []string {
	all := []string{""}
	for _, line := range strings.Split(withoutCode(page), "\n") {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading))
		all = append(all, anchor)
	}
	return all
}

// withoutCode returns page with empty lines in place of the lines of fenced code blocks, so that line numbers do not change.
func withoutCode(page string) string {
	lines := strings.Split(page, "\n")
	isCode := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			isCode = !isCode
			lines[i] = ""
		} else if isCode {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
