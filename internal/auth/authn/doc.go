// Package authn authenticates requests by client certificate, bearer token and the authenticators of an embedding program.
// It also implements the certificate authority of the server.
//
// [Authenticator] is a union of authenticators that implement the interfaces of k8s.io/apiserver. [Certificates] and [Tokens]
// are the built-in authenticators. Users are user.Info; a request without credentials has the user [Anonymous]. Package rbac
// authorizes users and impersonation.
//
// # The directory of an Authority
//
//	ca.crt      the certificate of the authority   server.pem  the serving certificate and its key
//	ca.key      the key of the authority           admin.pem   the administrator's certificate and its key
//
// Files are replaced atomically. A certificate that the authority has signed is renewed when a third of its lifetime is
// left, when the hosts have changed, or when its file is missing; the serving certificate is also renewed while the server
// runs. The CA certificate itself is never replaced, because clients trust it.
//
// # Invariants
//
//   - Errors and logs never contain a token or a key.
//   - A user is in exactly one of the groups system:authenticated and system:unauthenticated, unless its certificate or token file lists both groups.
//
// # Where to look
//
//	authenticate.go   the union of authenticators
//	certificate.go    client certificates; token.go, static tokens; impersonation.go, the headers of impersonation
//	user.go           well-known users and groups
//	authority.go      the certificate authority; pair.go, certificates with keys; file.go, their files
//	serving.go        the serving certificate and the TLS configuration
//	kubeconfig.go     the administrator's kubeconfig
package authn
