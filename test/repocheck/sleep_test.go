package repocheck

import (
	"go/ast"
	"testing"
)

// TestSleepsHaveReasons checks that a test waits for a condition, with internal/lib/testwait or testing/synctest. A
// time.Sleep in a test needs a comment, on the same line or on the line before, that gives the reason for the duration.
func TestSleepsHaveReasons(t *testing.T) {
	for _, file := range goFiles(t) {
		if !file.isTest() {
			continue
		}
		commented := map[int]bool{}
		for _, group := range file.syntax.Comments {
			commented[file.line(group.Pos())] = true   // a comment on the line of the call
			commented[file.line(group.End())+1] = true // a comment on the line before the call
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isSleep(call) && !commented[file.line(call.Pos())] {
				t.Errorf("%s:%d: time.Sleep: wait for a condition with testwait.For, or give the reason for the duration in a comment", file.name, file.line(call.Pos()))
			}
			return true
		})
	}
}

func isSleep(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Sleep" {
		return false
	}
	from, ok := selector.X.(*ast.Ident)
	return ok && from.Name == "time"
}
