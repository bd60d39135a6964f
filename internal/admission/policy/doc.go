// Package policy implements the admission plugins MutatingAdmissionPolicy and ValidatingAdmissionPolicy: CEL expressions that
// change written objects, or that must be true for them. Bindings bind policies to resources and parameters.
//
// # How it works
//
// Policies are evaluated in the order of their names, each for all of its bindings whose criteria match, and for each
// parameter object of a binding. The evaluation of a policy for one binding and one parameter object is an invocation.
//
// A mutation is an apply configuration, which the apply engine merges by the topology of the resource, or a JSON patch. All
// invocations are determined before the first mutation; each is evaluated on the object that the preceding invocation
// returned. If a mutation succeeds, the chain runs a second time and evaluates the policies with reinvocationPolicy IfNeeded
// again. Fields that policies set have no field manager; fields that unset markers remove are removed from managedFields.
// Errors reject the request after all policies were evaluated.
//
// A failed validation denies the request, adds a warning, or is only counted in metrics, depending on the binding's
// validationActions. If several validations deny the request, the client receives the first denial.
//
// # Cost
//
// A policy is compiled when it is first evaluated, and again after it changes. Each validation policy and each mutation has a cost
// budget per write, as in Kubernetes; see k8s.io/apiserver/pkg/apis/cel. All expressions of a write share an admission.CostBudget
// beyond that, which becomes smaller when a policy has denied the write.
//
// # Where to look
//
//	policies.go    Policies: the configured policies of both kinds
//	source.go      the policies of one kind with their bindings, as of the last configuration
//	policy.go      one policy, one binding
//	compiler.go    compiling expressions that can use the variables of a policy
//	match.go       the invocations of a write
//	params.go      parameter objects
//	request.go     the variables of CEL expressions for a write
//	status.go      errors
//
//	mutating.go    MutatingAdmissionPolicy
//	mutator.go     the compiled mutations of a policy
//	patch.go       the two patch types
//	celvalue.go    CEL values as documents
//
//	validating.go  ValidatingAdmissionPolicy
//	validator.go   the compiled validations of a policy
//	evaluate.go    evaluating one invocation
//	decision.go    decisions, denials and the actions of bindings
package policy
