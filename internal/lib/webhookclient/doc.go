// Package webhookclient is the HTTPS client of admission and conversion webhooks. It finds webhooks, limits calls and shares
// connections; packages such as internal/admission/webhook know the contents of reviews.
//
// # Vocabulary
//
//   - A target is the address of a webhook: a URL or a Service.
//   - A review is the object that is sent and returned, such as an AdmissionReview.
//
// # Invariants
//
//   - A call ends when its context does. The webhook receives the remaining time in the query parameter timeout.
//   - Redirects are not followed: a review is sent only to the server that the administrator has configured.
//   - The size of a response is limited.
//   - Calls to a target share connections. The connections of targets that were not called recently are closed.
//   - Errors have the texts and types of client-go.
//
// # Services
//
// The server has no service network, like a kube-apiserver without a cluster: the target of a Service is NAME.NAMESPACE.svc, which
// the resolver of the machine looks up. It is reachable where that name resolves, as with /etc/hosts or in a cluster.
//
// # Where to look
//
//	target.go  targets and their addresses
//	caller.go  Caller: calls, and the clients of targets
//	client.go  the HTTP client of one target
//	error.go   failed calls, in the words of Kubernetes
package webhookclient
