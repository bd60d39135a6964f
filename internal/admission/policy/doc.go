// Package policy implements the admission plugin ValidatingAdmissionPolicy: CEL expressions that must hold for an object, bound
// to resources by ValidatingAdmissionPolicyBindings.
//
// # How it works
//
// Policies are evaluated in the order of their names, each for all of its bindings whose criteria match, and for each
// parameter object of a binding. A validation that fails denies the request, adds a warning, or is only counted, as the
// binding says. Of several denials, the client receives the first.
//
// # Cost
//
// A policy is compiled when the first write matches it, and again when it changes. Each write has a cost budget per
// policy, as in Kubernetes; see k8s.io/apiserver/pkg/apis/cel.
//
// # Where to look
//
//	policies.go    the configured policies
//	policy.go      one policy with its bindings
//	compile.go     compiling its expressions
//	validate.go    evaluating all policies for a write
//	evaluate.go    evaluating one policy for one object and one parameter
//	params.go      parameter objects
//	decision.go    decisions, denials and the actions of bindings
package policy
