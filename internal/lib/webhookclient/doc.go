// Package webhookclient calls webhooks: programs of others that are asked over HTTPS about an object. It knows how to reach
// them and how long to wait, and nothing about what they are asked: that is the business of packages such as
// internal/admission/webhook.
//
// # Vocabulary
//
//   - target: where a webhook is: a URL, or a Service of the cluster.
//   - review: what is sent to it, and what comes back: an object such as an AdmissionReview.
//
// # What holds
//
//   - A call ends when its context does. Whoever calls sets how long that is; the webhook is told by the parameter timeout.
//   - Nobody is followed who answers with another place: the body of a review is for the one whom the administrator named.
//   - What comes back is read up to a limit.
//   - Connections are kept, and shared by all calls to the same target. Targets that nobody has called for long lose theirs.
//   - Errors are those that client-go has for Kubernetes, so that who knows them finds them.
//
// # Services
//
// There is no network of Services here, as there is none for a kube-apiserver that runs without a cluster: what a target
// names is looked up as NAME.NAMESPACE.svc by the resolver of this machine, as kube-apiserver does without a resolver of
// its own. Where that name leads somewhere, as by /etc/hosts or in a cluster, it is called.
//
// # Where to look
//
//	target.go  where a webhook is
//	caller.go  calls, and the connections that they share
//	client.go  the client for one target
//	error.go   what went wrong, as Kubernetes says it
package webhookclient
