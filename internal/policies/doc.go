// Package policies asks ValidatingAdmissionPolicies about writes: expressions in CEL that say what must hold for an object,
// bound to what they are for by ValidatingAdmissionPolicyBindings.
//
// # How they are asked
//
// Policies are asked in the order of their names, each for all of its bindings whose criteria match, and for each object
// that a binding names as a parameter. What does not hold is refused, told to the client as a warning, or only counted, as
// the binding says. Of several reasons to refuse, the client hears the first.
//
// # Cost
//
// A policy is compiled when the first write concerns it, and again when it changes. It has a budget of its own at every
// write, as in Kubernetes; see k8s.io/apiserver/pkg/apis/cel.
//
// # Where to look
//
//	policies.go    all policies as they are now
//	policy.go      one policy with its bindings
//	compile.go     expressions, compiled
//	validate.go    policies are asked
//	evaluate.go    one policy, one object, one parameter: what holds
//	params.go      the objects that bindings name as parameters
//	decision.go    what becomes of what does not hold
package policies
