package repocheck

import (
	"go/ast"
	"testing"
)

// The maximum numbers of lines of files and functions. Test functions may be longer than other functions, and test
// files have no limit, because tables make tests long without making them hard to read.
const (
	maxFileLines         = 450
	maxFunctionLines     = 80
	maxTestFunctionLines = 150
)

func TestFileSize(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isTest() || file.isGenerated() {
			continue
		}
		if n := file.lines(); n > maxFileLines {
			t.Errorf("%s:%d: the file has %d lines, the limit is %d: split it by noun", file.name, maxFileLines, n, maxFileLines)
		}
	}
}

func TestFunctionLength(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isGenerated() {
			continue
		}
		limit := maxFunctionLines
		if file.isTest() {
			limit = maxTestFunctionLines
		}
		for _, decl := range file.syntax.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := file.line(function.Pos()), file.line(function.End())
			if n := last - first + 1; n > limit {
				t.Errorf("%s:%d: %s has %d lines, the limit is %d: name its parts and make each a function (a test: move the table out)",
					file.name, first, function.Name.Name, n, limit)
			}
		}
	}
}
