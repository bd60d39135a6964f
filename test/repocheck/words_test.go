package repocheck

import (
	"bytes"
	"path"
	"regexp"
	"testing"
)

// The patterns contain a character class instead of one letter of each word, so that they do not match their own
// source.
var (
	noteToSelf  = regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X])\b`)
	machinePath = regexp.MustCompile(`(^|[^\w.])/(wor[k]|roo[t]|hom[e]|User[s])/`)
	registry    = regexp.MustCompile(`\b((proxy|sum)\.golan[g]\.org|registry\.npm[j]s|deb\.debia[n]\.org)\b`)
)

func TestNoNotesToSelf(t *testing.T) {
	for _, name := range trackedFiles(t) {
		if path.Ext(name) == ".go" {
			report(t, name, noteToSelf, "finish it, or describe the current behaviour")
		}
	}
}

func TestNoMachinePaths(t *testing.T) {
	for _, name := range trackedFiles(t) {
		report(t, name, machinePath, "a path of a developer's machine: use a relative path or a temporary folder")
	}
}

func TestNoRegistryHosts(t *testing.T) {
	for _, name := range trackedFiles(t) {
		report(t, name, registry, "name the package, not the host that it is fetched from")
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern *regexp.Regexp
		text    string
		want    bool
	}{
		{noteToSelf, "// TOD" + "O: later", true},
		{noteToSelf, "TODOS", false},
		{machinePath, `open("/hom` + `e/me/x")`, true},
		{machinePath, "/roo" + "t/go", true},
		{machinePath, "example.org/hom" + "e/", false},
		{registry, "GOPROXY=https://proxy.golan" + "g.org", true},
	} {
		if got := test.pattern.MatchString(test.text); got != test.want {
			t.Errorf("%v matches %q = %v, want %v", test.pattern, test.text, got, test.want)
		}
	}
}

// report fails the test for every line of the file name that matches pattern, with advice in the message. It skips
// binary files.
func report(t *testing.T, name string, pattern *regexp.Regexp, advice string) {
	t.Helper()
	content := readFile(t, name)
	if bytes.IndexByte(content, 0) >= 0 {
		return // a file with a NUL byte is not text
	}
	line := 0
	for text := range bytes.Lines(content) {
		line++
		if found := pattern.Find(text); found != nil {
			t.Errorf("%s:%d: found %q: %s", name, line, bytes.TrimSpace(found), advice)
		}
	}
}
