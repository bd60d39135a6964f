// Package authnconfig authenticates requests as configured by kube-apiserver's flags and its AuthenticationConfiguration: JSON web
// tokens (JWT) of OpenID Connect issuers, a webhook for bearer tokens, and anonymous requests.
//
// JSON web tokens are verified by the packages of k8s.io/apiserver, so that the same configuration accepts the same tokens. This package loads
// the configuration, combines the authenticators, and replaces them when the file changes.
//
// # Invariants
//
//   - A configuration that is invalid, or whose issuers cannot be reached, never replaces a valid one.
//   - Results are cached for the pair of token and audiences, under an HMAC of the token. A new configuration has a new cache.
//   - Neither errors nor logs contain tokens.
//   - Redirects of the webhook are not followed, because they would send tokens to another place.
//
// # Where to look
//
//	options.go    the options, which are kube-apiserver's flags, and their validation
//	config.go     the AuthenticationConfiguration of a file or of the --oidc-* flags
//	authenticator.go  the authenticators and their replacement
//	webhook.go    the webhook
package authnconfig
