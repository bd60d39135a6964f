// Package admission is the admission chain: the ordered list of plugins that change or reject writes before they are
// stored.
//
// # How it works
//
// A [Plugin], whose interface is in the public package apiserver/admission, declares which operations on which resources it
// handles, and in which phases: it mutates, validates, or both. A [Chain] is an ordered list of plugins; that of the server
// is in internal/app/admission.go. Plugins that handle a write are resolved once per endpoint and operation
// ([Endpoint.Plan]) and again when a plugin's configuration changes ([Chain.Invalidate]), so that a write that no plugin
// handles costs one check.
//
// The registry calls the chain twice for each write, with a [Record]: the [Attributes] that plugins see, and the state that only
// the chain, webhooks and policies use.
//
//	merge → Plan.Admit → prepare → the resource's validation → Plan.Validate → commit
//
// Fields that a mutating plugin sets have no owner: managed fields are computed before. Admit runs again from the start
// of the write if the commit loses a race, so plugins must not have side effects outside of
// [Record.CommitWith].
//
// # Objects
//
// Plugins see documents at the version of the request, with defaults, without managedFields. Webhooks and policies may
// request another version of the resource (matchPolicy: Equivalent) and managedFields: [Record.At] computes these on demand.
//
// # Adding a plugin
//
// Add a folder below plugin/ with a type that implements [Plugin], and one line to the list in internal/app. Unit tests use
// package admissiontest; answers of kube-apiserver's plugin of the same name are recorded by make oracle-admission.
//
// # Where to look
//
//	record.go         one write in the chain; resource.go, the endpoint; reader.go, other objects
//	chain.go          chains, and plans: the plugins of one endpoint and operation
//	reinvocation.go   the second run of mutating plugins
//	criteria.go       match criteria of webhooks and policies; rules.go, their rules; condition.go, their CEL conditions
//	celattributes.go  attributes as Kubernetes' CEL library takes them
//	plugin/           the built-in plugins, one folder each
//	admissiontest/    unit tests of plugins: a fake reader, Attributes, recorded cases
//	webhook/          admission webhooks
//	policy/           ValidatingAdmissionPolicies
package admission
