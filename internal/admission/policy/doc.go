// Package policy implements the admission plugin ValidatingAdmissionPolicy: CEL expressions that must be true for a written
// object, bound to resources by ValidatingAdmissionPolicyBindings.
//
// # How it works
//
// Policies are evaluated in the order of their names, each for all of its bindings whose criteria match, and for each
// parameter object of a binding. A failed validation denies the request, adds a warning, or is only counted in metrics,
// depending on the binding's validationActions. If several validations deny the request, the client receives the first
// denial.
//
// # Cost
//
// A policy is compiled when it is first evaluated, and again after it changes. Each write has a cost budget per policy, as
// in Kubernetes; see k8s.io/apiserver/pkg/apis/cel.
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
