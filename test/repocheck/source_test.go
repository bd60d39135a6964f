package repocheck

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/cadastre/cadastre"

// root is the path of the repository's root, relative to the folder of this package, in which go test runs.
var root = filepath.Join("..", "..")

// goFile is a parsed Go file of the repository, in any of its modules.
type goFile struct {
	name   string // path from the root, separated by slashes
	source []byte
	fset   *token.FileSet
	syntax *ast.File
}

func (f *goFile) folder() string    { return path.Dir(f.name) }
func (f *goFile) isTest() bool      { return strings.HasSuffix(f.name, "_test.go") }
func (f *goFile) isGenerated() bool { return strings.HasPrefix(path.Base(f.name), "zz_") }

// inRootModule reports whether the file belongs to the root module: no folder on its path, except the root, contains a
// go.mod.
func (f *goFile) inRootModule() bool {
	for folder := f.folder(); folder != "."; folder = path.Dir(folder) {
		if _, err := os.Stat(filepath.Join(root, folder, "go.mod")); err == nil {
			return false
		}
	}
	return true
}

func (f *goFile) line(pos token.Pos) int { return f.fset.Position(pos).Line }

func (f *goFile) lines() int { return bytes.Count(f.source, []byte("\n")) }

// goFiles parses every Go file of the repository, except those in testdata folders.
func goFiles(t *testing.T) []*goFile {
	t.Helper()
	var files []*goFile
	for _, name := range trackedFiles(t) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		source := readFile(t, name)
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, name, source, parser.ParseComments)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		files = append(files, &goFile{name: name, source: source, fset: fset, syntax: syntax})
	}
	if len(files) == 0 {
		t.Fatal("found no Go file: the walk is broken")
	}
	return files
}

// trackedFiles returns the names of the files that git tracks or does not ignore. Without git, as in a source archive, it returns
// the names of all files.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return allFiles(t)
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		// Skip tracked files that are deleted in the work tree.
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	noticeNewFiles(names)
	return names
}

// noticeNewFiles reads the folders of the files in names, so that the go command does not use a cached test result
// after a file was added: the go command tracks the folders and files that the test opens, but not those that git
// reads.
func noticeNewFiles(names []string) {
	listed := map[string]bool{}
	for _, name := range names {
		if folder := path.Dir(name); !listed[folder] {
			listed[folder] = true
			_, _ = os.ReadDir(filepath.Join(root, folder))
		}
	}
}

func allFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
