// Package webhookclient is the HTTPS client of admission and conversion webhooks. It resolves the addresses of webhooks,
// limits calls and shares connections. Packages such as internal/admission/webhook build and interpret the reviews.
//
// # Vocabulary
//
//   - A target is the address of a webhook: a URL or a Service.
//   - A review is the object that is sent and returned, such as an AdmissionReview.
//
// # Invariants
//
//   - A call ends when its context is cancelled or its deadline passes. The webhook receives the remaining time in the query parameter timeout.
//   - Redirects are not followed: a review is sent only to the server that the administrator has configured.
//   - The size of a response is limited.
//   - Calls to a target share connections. The connections of targets that were not called recently are closed.
//   - Errors have the same types and messages as those of client-go.
//
// # Services
//
// Like a kube-apiserver without a cluster, the server has no service network: the address of a Service is NAME.NAMESPACE.svc, which
// the resolver of the machine looks up. The webhook is reachable if that name resolves, for example in a cluster or by an entry in
// /etc/hosts.
//
// # Where to look
//
//	target.go  targets and their addresses
//	caller.go  Caller: calls, and the clients of targets
//	client.go  the HTTP client of one target
//	error.go   CallError, with the messages of Kubernetes
package webhookclient
