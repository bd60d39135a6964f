// Package celexpr declares the CEL expressions of webhooks and policies: their environment and result types.
// Kubernetes' CEL library compiles them, so that the same expressions are valid, with the same errors.
//
// Building the environment is slow and uses much memory, so it is built when the first expression is compiled.
//
// # Where to look
//
//	expression.go   expressions and their result types
//	environment.go  the CEL environment and the compilers
package celexpr
