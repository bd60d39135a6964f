package repocheck

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// vagueProse matches words in comments and messages that stand for a mechanism without naming it. The pattern contains
// one letter of each word as a character class, so that it does not match its own source.
var vagueProse = regexp.MustCompile(`(?i)\b(nobod[y]|somebod[y]|anybod[y]|everybod[y]|whoeve[r]|who[m]?|(is|are|was|were|be) tol[d]|tells|has a sa[y]|in vai[n]|hear[s]?|what they ma[y]|` +
	`from which o[n]|as often a[s]|again and agai[n]|say[s]? s[o]|aske[d] of|whateve[r] (its?|the|their)|wha[t] (is|was|are|were|follows|remains|it|they))\b`)

// allowedProse maps files to the vague words in them that are correct, each with a part of its line and the reason.
var allowedProse = map[string][]allowance{
	"apply/kep555_test.go":                {{"managers who manage", "quotes KEP-555"}},
	"internal/cli/reference/reference.go": {{"the user who generates", "users are people"}},
	"internal/cli/simulation.go":          {{"users who may apply", "users are people"}},
	"docs/headings_test.go":               {{"", "the list of vague words in headings"}},
	"test/repocheck/prose_test.go":        {{"", "this list"}},
}

// allowance allows a vague word in the lines that contain text, for the given reason.
type allowance struct{ text, reason string }

// TestProse checks that comments and messages name the mechanism, in the terms of Kubernetes, etcd and Go.
func TestProse(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isGenerated() {
			continue // the generators' own tests read their output
		}
		for _, group := range file.syntax.Comments {
			for _, comment := range group.List {
				file.checkProse(t, comment.Pos(), comment.Text)
			}
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isMessage(call) {
				for _, argument := range call.Args {
					if literal, ok := argument.(*ast.BasicLit); ok && literal.Kind == token.STRING {
						text, _ := strconv.Unquote(literal.Value)
						file.checkProse(t, literal.Pos(), text)
					}
				}
			}
			return true
		})
	}
}

// checkProse fails the test for each line of text that contains a vague word and is not allowed. pos is the position of
// text in the file.
func (f *goFile) checkProse(t *testing.T, pos token.Pos, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		found := vagueProse.FindString(line)
		if found == "" || f.isAllowed(line) {
			continue
		}
		t.Errorf("%s:%d: found %q: name the mechanism, or add the line to allowedProse with a reason", f.name, f.line(pos)+i, found)
	}
}

func (f *goFile) isAllowed(line string) bool {
	for _, a := range allowedProse[f.name] {
		if strings.Contains(line, a.text) {
			return true
		}
	}
	return false
}

// messageFunctions lists the functions whose string arguments are messages: errors, logs and test failures.
var messageFunctions = map[string]bool{
	"Errorf": true, "New": true, "Error": true, "Fatalf": true, "Fatal": true, "Logf": true, "Log": true, "Skipf": true, "Skip": true,
	"Debug": true, "Info": true, "Warn": true, "NewBadRequest": true, "NewInternalError": true,
}

func isMessage(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && messageFunctions[selector.Sel.Name]
}

// TestDocComments checks that the doc comment of a function or type starts with its name. Examples are exempt, and tests of
// deliberate differences, whose comments state the behaviour of Kubernetes.
func TestDocComments(t *testing.T) {
	for _, file := range goFiles(t) {
		for _, decl := range file.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				file.checkDoc(t, d.Doc, d.Name.Name)
			case *ast.GenDecl:
				if d.Tok == token.TYPE && len(d.Specs) == 1 && !d.Lparen.IsValid() {
					file.checkDoc(t, d.Doc, d.Specs[0].(*ast.TypeSpec).Name.Name)
				}
			}
		}
	}
}

func (f *goFile) checkDoc(t *testing.T, doc *ast.CommentGroup, name string) {
	t.Helper()
	if doc == nil {
		return
	}
	text := strings.TrimSpace(doc.Text())
	if text == "" || name == "main" || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "TestDifference") {
		return
	}
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	if rest, ok := strings.CutPrefix(text, name); !ok || rest != "" && (isWordByte(rest[0])) {
		t.Errorf("%s:%d: the doc comment of %s starts with %q: start with the name", f.name, f.line(doc.Pos()), name, firstWords(text))
	}
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), 5)], " ")
}
