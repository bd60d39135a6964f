// Package authn finds out who sends a request, and makes the certificates by which server and
// clients know each other.
//
// # Vocabulary
//
//   - A [User] is who somebody is: a name, a uid, groups, and what else is known. Nobody in
//     particular is the anonymous user.
//   - An [Authority] signs certificates: the one that the server shows, and the administrator's.
//     It lives in a folder, or in memory.
//   - An [Authenticator] finds out who sends a request: by client certificate, then by bearer
//     token.
//   - To impersonate is to ask to be taken for another user.
//
// What a user may do is not decided here, but in package rbac.
//
// # The folder
//
//	ca.crt      what clients trust            server.pem  what the server shows, and its key
//	ca.key      what signs                    admin.pem   the administrator's, and its key
//
// Each file is written whole or not at all. What the authority signed is made anew when a third
// of its time is left, when the hosts have changed, or when it is gone; the server's own while
// it serves. The authority itself is never replaced: clients trust it.
//
// # What holds
//
//   - No error and no log contains a token or a key.
//   - Every user that Authenticate returns is in exactly one of the groups for who is known and
//     who is not, unless the token file or the certificate says more.
//
// # Where to look
//
//	user.go           a user, and the names that mean something
//	authority.go      the authority, and what it signs
//	serving.go        what the server shows; its side of TLS
//	pair.go           a certificate with its key; file.go, how they are written
//	kubeconfig.go     what the administrator gives to kubectl
//	authenticate.go   who sends a request
//	certificate.go    by certificate; token.go, by token
//	impersonation.go  whom they want to be taken for
package authn
