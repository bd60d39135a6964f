package builtin

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// expressionChecks are the checks that compile expressions.
func expressionChecks() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"condition-expression": conditionExpression, "validation-expression": validationExpression, "message-expression": messageExpression,
		"variable": variableExpression, "apply-expression": applyExpression, "patch-expression": patchExpression,
	}
}

// conditionExpression compiles a condition, which can't use the variables of its policy.
func conditionExpression(c *checker, now, _ document.Value) {
	c.compile(celexpr.Compiler(), &celexpr.Expression{Text: strings.TrimSpace(now.Text()), Role: celexpr.Condition})
}

func validationExpression(c *checker, now, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: now.Text(), Role: celexpr.Condition})
}

// messageExpression compiles what makes a message. That there is only space has been told.
func messageExpression(c *checker, now, _ document.Value) {
	if strings.TrimSpace(now.Text()) == "" {
		return
	}
	c.compile(c.compiler(), &celexpr.Expression{Text: now.Text(), Role: celexpr.Message})
}

func applyExpression(c *checker, now, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: strings.TrimSpace(now.Text()), Role: celexpr.ApplyPatch})
}

func patchExpression(c *checker, now, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: strings.TrimSpace(now.Text()), Role: celexpr.JSONPatch})
}

// annotationExpression compiles without the space around an expression, and shows it with.
func annotationExpression(c *checker, text string) {
	e := &celexpr.Expression{Text: strings.TrimSpace(text), Role: celexpr.Annotation}
	result := c.compiler().CompileCELExpression(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(text))
	c.compiled(result.Error, text, "valueExpression")
}

// variableExpression compiles a variable. Expressions that come later can use it.
func variableExpression(c *checker, now, _ document.Value) {
	composed, ok := c.compiler().(*cel.CompositedCompiler)
	if !ok {
		return // the compiler can't be made, which is the server's fault
	}
	e := &celexpr.Expression{Name: c.scopes[len(c.scopes)-1].now.Get("name").Text(), Text: now.Text(), Role: celexpr.Variable}
	result := composed.CompileAndStoreVariable(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(e.Text))
	c.compiled(result.Error, e.Text)
}

// compiler returns what compiles expressions of the policy. Those of one without variables can't name any; those that
// mutate always can.
func (c *checker) compiler() cel.Compiler {
	spec := c.scopes[0].now.Get("spec")
	if spec.Get("variables").Len() == 0 && spec.Get("mutations").Len() == 0 {
		return celexpr.Compiler()
	}
	if c.composed == nil {
		composed, err := celexpr.WithVariables()
		if err != nil {
			return celexpr.Compiler()
		}
		c.composed = composed
	}
	return c.composed
}

// hasParams reports whether the policy has parameters.
func (c *checker) hasParams() bool { return !isNothing(c.scopes[0].now.Lookup("spec", "paramKind")) }

// environment is what a new expression may use. One that was there before may use what this server knows and an older one
// beside it may not.
func (c *checker) environment(text string) environment.Type {
	if has(c.scopes[0].old, text) {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// has reports whether a text is in a document.
func has(doc document.Value, text string) bool {
	switch doc.Kind() {
	case document.String:
		return doc.Text() == text
	case document.Map, document.List:
		for i := range doc.Len() {
			if has(doc.At(i), text) {
				return true
			}
		}
	}
	return false
}

func (c *checker) compile(compiler cel.Compiler, e *celexpr.Expression) {
	c.compiled(compiler.CompileCELExpression(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(e.Text)).Error, e.Text)
}

// compiled reports why an expression can't be compiled.
func (c *checker) compiled(err *apiservercel.Error, text string, at ...string) {
	switch {
	case err == nil:
	case err.Type == apiservercel.ErrorTypeRequired:
		c.required(err.Detail, at...)
	case err.Type == apiservercel.ErrorTypeInvalid:
		c.invalid(text, err.Detail, at...)
	case err.Type == apiservercel.ErrorTypeInternal:
		c.own(field.ErrorList{field.InternalError(nil, err)})
	default:
		c.own(field.ErrorList{field.InternalError(nil, fmt.Errorf("unsupported error type: %w", err))})
	}
}
