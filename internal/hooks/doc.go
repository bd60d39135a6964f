// Package hooks asks admission webhooks about writes: those of MutatingWebhookConfigurations, which may change objects, and
// those of ValidatingWebhookConfigurations, which may refuse them.
//
// # How they are asked
//
// Mutating webhooks are asked one after the other, in the order of the names of their configurations, each about what
// the ones before it made. If one changed something, those are asked once more that came before it and want that
// (reinvocationPolicy: IfNeeded). What they change nobody owns, save what they themselves write into managedFields.
// Validating webhooks are asked side by side, about the object as it will be, but with what others gave a custom
// resource and its schema does not have: that is dropped when it is stored.
//
// A webhook may return an object at another version of its kind. It is shown so to the next ones that want the version
// at which it was shown, and converted to that of the request for all others, and in the end.
//
// # Errors
//
// A webhook that could not be asked refuses the request, or is left out if its failures are ignored. Errors have the texts
// and codes of kube-apiserver.
//
// # Where to look
//
//	hooks.go     all webhooks as they are now
//	hook.go      one webhook: what is in a configuration, ready to be asked
//	mutate.go    mutating ones are asked; rounds.go, who is asked again
//	validate.go  validating ones are asked
//	call.go      one call: what is sent, and what came of it
//	review.go    AdmissionReviews
//	patch.go     what a webhook changes
package hooks
