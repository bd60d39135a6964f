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

// expressionChecks returns the checks that compile CEL expressions, by their names in rules.
func expressionChecks() map[string]func(c *checker, value, old document.Value) {
	return map[string]func(c *checker, value, old document.Value){
		"condition-expression": checkConditionExpression, "validation-expression": checkValidationExpression, "message-expression": checkMessageExpression,
		"variable": checkVariableExpression, "apply-expression": checkApplyExpression, "patch-expression": checkPatchExpression,
	}
}

// checkConditionExpression reports the compilation errors of a match condition, which cannot use the variables of its policy.
func checkConditionExpression(c *checker, value, _ document.Value) {
	c.compile(celexpr.Compiler(), &celexpr.Expression{Text: strings.TrimSpace(value.Text()), Role: celexpr.Condition})
}

func checkValidationExpression(c *checker, value, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: value.Text(), Role: celexpr.Condition})
}

// checkMessageExpression reports the compilation errors of a message expression. It ignores blank expressions, which another
// check rejects.
func checkMessageExpression(c *checker, value, _ document.Value) {
	if strings.TrimSpace(value.Text()) == "" {
		return
	}
	c.compile(c.compiler(), &celexpr.Expression{Text: value.Text(), Role: celexpr.Message})
}

func checkApplyExpression(c *checker, value, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: strings.TrimSpace(value.Text()), Role: celexpr.ApplyPatch})
}

func checkPatchExpression(c *checker, value, _ document.Value) {
	c.compile(c.compiler(), &celexpr.Expression{Text: strings.TrimSpace(value.Text()), Role: celexpr.JSONPatch})
}

// checkAnnotationExpression reports the compilation errors of an audit annotation's valueExpression. It compiles the expression
// without surrounding whitespace, but reports the original text, as kube-apiserver does.
func checkAnnotationExpression(c *checker, text string) {
	e := &celexpr.Expression{Text: strings.TrimSpace(text), Role: celexpr.Annotation}
	result := c.compiler().CompileCELExpression(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(text))
	c.addCompilationError(result.Error, text, "valueExpression")
}

// checkVariableExpression reports the compilation errors of a policy's variable, and makes the variable available to later
// expressions.
func checkVariableExpression(c *checker, value, _ document.Value) {
	composed, ok := c.compiler().(*cel.CompositedCompiler)
	if !ok {
		return // the compiler could not be created, which is an internal error
	}
	e := &celexpr.Expression{Name: c.scopes[len(c.scopes)-1].value.Get("name").Text(), Text: value.Text(), Role: celexpr.Variable}
	result := composed.CompileAndStoreVariable(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(e.Text))
	c.addCompilationError(result.Error, e.Text)
}

// compiler returns the compiler for the expressions of the policy that is being validated. A policy without variables and
// mutations uses the compiler that all policies share.
func (c *checker) compiler() cel.Compiler {
	spec := c.scopes[0].value.Get("spec")
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

// hasParams reports whether the policy that is being validated has a paramKind.
func (c *checker) hasParams() bool {
	return !isAbsentOrNull(c.scopes[0].value.Lookup("spec", "paramKind"))
}

// environment returns the CEL environment type for the expression text. New expressions must not use features that older
// servers of the cluster do not support; expressions that the live object contains already may.
func (c *checker) environment(text string) environment.Type {
	if containsString(c.scopes[0].old, text) {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// containsString reports whether any string value in doc equals text.
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
	c.addCompilationError(compiler.CompileCELExpression(e, e.Role.VariableDeclarations(c.hasParams()), c.environment(e.Text)).Error, e.Text)
}

// addCompilationError reports err, the compilation error of the expression text, unless err is nil; at is the path of the
// expression relative to the current path.
func (c *checker) addCompilationError(err *apiservercel.Error, text string, at ...string) {
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
