package celexpr

import (
	"sync"

	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Environment returns the CEL environment, which defines the functions and types that expressions can use. It is built on
// the first call.
var Environment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// Compiler returns a compiler for expressions that do not use a policy's variables.
var Compiler = sync.OnceValue(func() cel.Compiler { return cel.NewCompiler(Environment()) })

// ConditionCompiler returns a compiler for match conditions that do not use a policy's variables.
var ConditionCompiler = sync.OnceValue(func() cel.ConditionCompiler { return cel.NewConditionCompiler(Environment()) })

// WithVariables returns a compiler for the expressions of one policy. An expression can use variables that the returned
// compiler has compiled before.
func WithVariables() (*cel.CompositedCompiler, error) {
	return cel.NewCompositedCompiler(Environment())
}
