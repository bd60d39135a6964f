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

// expressionChecks are the checks that compile CEL expressions.
func expressionChecks() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"condition-expression": conditionExpression, "validation-expression": validationExpression, "message-expression": messageExpression,
		"variable": variableExpression, "apply-expression": applyExpression, "patch-expression": patchExpression,
	}
}

// conditionExpression compiles a match condition, which cannot use the variables of its policy.
func conditionExpression(c *checker, now, _ document.Value) {
	c.compile(celexpr.Compiler(), &celexpr.Expression{Text: strings.TrimSpace(now.Text()), Role: celexpr.Condition})
}

func validationExpression(c *checker, now, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: now.Text(), Role: celexpr.Condition})
}

// messageExpression compiles a message expression. Blank ones are rejected by another check.
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

// annotationExpression compiles an expression without the surrounding whitespace; errors show it with the whitespace.
func annotationExpression(c *checker, text string) {
	e := &celexpr.Expression{Text: strings.TrimSpace(text), Role: celexpr.Annotation}
	result := c.compiler().CompileCELExpression(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(text))
	c.compiled(result.Error, text, "valueExpression")
}

// variableExpression compiles a variable, which later expressions can use.
func variableExpression(c *checker, now, _ document.Value) {
	composed, ok := c.compiler().(*cel.CompositedCompiler)
	if !ok {
		return // creating the compiler failed, which is an internal error
	}
	e := &celexpr.Expression{Name: c.scopes[len(c.scopes)-1].now.Get("name").Text(), Text: now.Text(), Role: celexpr.Variable}
	result := composed.CompileAndStoreVariable(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(e.Text))
	c.compiled(result.Error, e.Text)
}

// compiler returns the compiler for the policy's expressions. A policy without variables and mutations uses the shared
// compiler.
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
func (c *checker) hasParams() bool {
	return !isAbsentOrNull(c.scopes[0].now.Lookup("spec", "paramKind"))
}

// environment returns the CEL environment of an expression. Stored expressions may use features that new expressions
// may not, because older servers in the cluster lack them.
func (c *checker) environment(text string) environment.Type {
	if containsString(c.scopes[0].old, text) {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// containsString reports whether a document contains a string value.
func containsString(doc document.Value, text string) bool {
	switch doc.Kind() {
	case document.String:
		return doc.Text() == text
	case document.Map, document.List:
		for i := range doc.Len() {
			if containsString(doc.At(i), text) {
				return true
			}
		}
	}
	return false
}

func (c *checker) compile(compiler cel.Compiler, e *celexpr.Expression) {
	c.compiled(compiler.CompileCELExpression(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(e.Text)).Error, e.Text)
}

// compiled reports a compilation error.
func (c *checker) compiled(err *apiservercel.Error, text string, at ...string) {
	switch {
	case err == nil:
	case err.Type == apiservercel.ErrorTypeRequired:
		c.required(err.Detail, at...)
	case err.Type == apiservercel.ErrorTypeInvalid:
		c.invalid(text, err.Detail, at...)
	case err.Type == apiservercel.ErrorTypeInternal:
		c.addErrors(field.ErrorList{field.InternalError(nil, err)})
	default:
		c.addErrors(field.ErrorList{field.InternalError(nil, fmt.Errorf("unsupported error type: %w", err))})
	}
}
