package repocheck

import (
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
			t.Errorf("%s:1: package %s has no package comment: say in doc.go what it is for", file.name, folder)
		}
	}
}

// packageDocOpening is what godoc expects: "Package name" or, for a command, "Command name".
func packageDocOpening(file *goFile) string {
	if file.syntax.Name.Name == "main" {
		return "Command "
	}
	return "Package " + file.syntax.Name.Name + " "
}
