// Package celexpr defines the CEL environment and the result types for the expressions of admission webhooks and admission
// policies. Kubernetes' CEL library compiles the expressions, so Cadastre accepts the same expressions as kube-apiserver and
// reports the same errors.
//
// Building the environment is slow and uses much memory, so it is built when the first expression is compiled.
//
// # Where to look
//
//	expression.go   expressions and their result types
//	environment.go  the CEL environment and the compilers
package celexpr
