// Package admission is the admission chain: the ordered list of plugins that change or reject writes before they are
// stored.
//
// # How it works
//
// A [Plugin], whose interface is in the public package apiserver/admission, declares which operations on which resources it
// handles, and in which phases: mutating, validating, or both. A [Chain] is an ordered list of plugins; the server's chain
// is defined in internal/app/admission.go. The plugins that handle a write are resolved once per endpoint and operation
// ([Endpoint.Plan]) and again when a plugin's configuration changes ([Chain.Invalidate]), so that a write that no plugin
// handles costs one check.
//
// The registry calls the chain twice for each write, with a [Record]: the [Attributes] that plugins receive, and the state
// that only the chain, webhooks and policies use.
//
//	merge → Plan.Admit → prepare → the resource's validation → Plan.Validate → commit
//
// Fields that a mutating plugin sets have no field manager: managedFields are computed before admission. If the commit loses
// a race against another write, the write is repeated from the start, including Admit, so plugins must not have side effects
// except through [Record.CommitWith].
//
// # Objects
//
// Plugins receive documents at the version of the request, with defaults, without managedFields. Webhooks and policies may
// require another version of the resource (matchPolicy: Equivalent) and managedFields: [Record.At] computes these on demand.
//
// # Adding a plugin
//
// Add a folder below plugin/ with a type that implements [Plugin], and one line to the list in internal/app. Unit tests use
// package admissiontest; make oracle-admission records the answers of kube-apiserver's plugin of the same name.
//
// # Where to look
//
//	record.go         Record, one write in the chain; resource.go, its endpoint; reader.go, reads of other objects
//	chain.go          Chain; Plan, the plugins of one endpoint and operation
//	reinvocation.go   the second run of mutating plugins
//	criteria.go       match criteria of webhooks and policies; rules.go, their rules; condition.go, their CEL conditions
//	celattributes.go  attributes in the form that Kubernetes' CEL library requires
//	plugin/           the built-in plugins, one folder each
//	admissiontest/    unit tests of plugins: a fake reader, Attributes, recorded cases
//	webhook/          admission webhooks
//	policy/           MutatingAdmissionPolicies and ValidatingAdmissionPolicies
package admission
