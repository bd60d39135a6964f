package admit

import (
	"sync"

	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Environment is what expressions can use. It takes a while to make.
var Environment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// conditions compiles conditions of webhooks.
var conditions = sync.OnceValue(func() cel.ConditionCompiler { return cel.NewConditionCompiler(Environment()) })
