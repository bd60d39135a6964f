// Package webhook implements the admission plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook.
//
// # How it works
//
// Mutating webhooks are called one after the other, in the order of the names of their configurations; each receives the
// object that the preceding webhook returned. If a webhook changes the object, the chain runs a second time and calls the
// webhooks with reinvocationPolicy IfNeeded after whose call the object changed. Fields that webhooks set have no field
// manager, unless the webhook writes managedFields. Validating webhooks are called concurrently with the object as it will be
// stored, except that it still contains the fields of a custom resource that webhooks set and that pruning will remove.
//
// A webhook may return the object at another version than it received. A later webhook that requires the received version is
// sent the returned object unchanged; for any other version, the returned object is first converted to the version of the
// request.
//
// # Errors
//
// A failed call rejects the request, or is ignored if the failurePolicy is Ignore. Errors have the texts and codes of
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
