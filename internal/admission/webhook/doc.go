// Package webhook implements the admission plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook.
//
// # How it works
//
// Mutating webhooks are called one after the other, in the order of the names of their configurations; each receives the
// object that the ones before it returned. If one changes the object, the chain runs a second time, in which webhooks with
// reinvocationPolicy IfNeeded are called again if the object changed after their call. Fields that webhooks set have no
// owner, unless they write managedFields. Validating webhooks are called concurrently with the object as it will be stored, and
// with the fields of a custom resource that webhooks set and that are pruned when it is stored.
//
// A webhook may return an object at another version of its kind. Webhooks that are sent the version at which it was sent
// receive exactly that; for all others it is converted to the version of the request first.
//
// # Errors
//
// A failed call rejects the request, or is ignored if the failure policy is Ignore. Errors have the texts and codes of
// kube-apiserver.
//
// # Where to look
//
//	webhooks.go  the configured webhooks
//	webhook.go   one webhook of a configuration
//	mutate.go    MutatingAdmissionWebhook
//	validate.go  ValidatingAdmissionWebhook
//	call.go      one call, and its failure policy
//	review.go    AdmissionReviews
//	patch.go     applying the patch of a response
package webhook
