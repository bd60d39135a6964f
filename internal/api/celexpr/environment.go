package celexpr

import (
	"sync"

	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Environment is what expressions may use.
var Environment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// Compiler compiles expressions that have no variables of a policy.
var Compiler = sync.OnceValue(func() cel.Compiler { return cel.NewCompiler(Environment()) })

// Conditions compiles conditions that have no variables of a policy.
var Conditions = sync.OnceValue(func() cel.ConditionCompiler { return cel.NewConditionCompiler(Environment()) })

// WithVariables returns a compiler for a policy with variables, which it remembers.
func WithVariables() (*cel.CompositedCompiler, error) {
	return cel.NewCompositedCompiler(Environment())
}
