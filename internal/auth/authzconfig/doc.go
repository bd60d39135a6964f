// Package authzconfig authorizes requests as configured by kube-apiserver's flags and its AuthorizationConfiguration: an ordered list of
// RBAC, webhooks, AlwaysAllow and AlwaysDeny. The first authorizer that allows or denies a request decides.
//
// Webhooks receive the same reviews as from kube-apiserver; match conditions are evaluated by the package of k8s.io/apiserver. This
// package loads the configuration, combines the authorizers, and replaces them when the file changes.
//
// # Invariants
//
//   - Members of system:masters are allowed before any configured authorizer, so that administrators can repair a faulty configuration.
//   - A configuration that is invalid never replaces a valid one. A reload cannot remove RBAC or another type that is not a webhook.
//   - A request waits for webhooks at most for the timeout of requests, including their repetition.
//   - Redirects of webhooks are not followed.
//
// # Where to look
//
//	options.go     the options, which are kube-apiserver's flags, and their validation
//	config.go      the AuthorizationConfiguration of a file or of the flags
//	authorizer.go  the authorizers and their replacement
//	webhook.go     webhooks
package authzconfig
