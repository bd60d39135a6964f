// Package celexpr has the expressions of webhooks and policies: what they may use, and which values they may have.
// Kubernetes' own library for CEL compiles them, so that what is right there is right here, with the same errors.
//
// Making the environment takes a while and memory. It is made when the first expression is compiled.
//
// # Where to look
//
//	expression.go   expressions, and which values they may have
//	environment.go  what they may use, and the compilers
package celexpr
