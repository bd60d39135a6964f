package authn

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// ErrUnauthorized says that what was shown does not prove who somebody is. The answer is 401.
var ErrUnauthorized = errors.New("unauthorized")

var errToken = errors.New("the bearer token is not known")

// Authenticator finds out who sends a request. Its methods may be called concurrently.
type Authenticator struct {
	// Certificates verifies client certificates; nil accepts none.
	Certificates *Certificates
	// Tokens are the bearer tokens; nil accepts none.
	Tokens *Tokens
}

// Authenticate returns who sent a request: by its certificate, or by its bearer token; an anonymous
// user if it has neither; ErrUnauthorized if none of what it has is good. What proved it is taken
// out of the header, so that nobody can log it or pass it on.
func (a *Authenticator) Authenticate(r *http.Request) (*User, error) {
	user, certErr := a.Certificates.User(r.TLS)
	if user == nil {
		var tokenErr error
		if user, tokenErr = a.byToken(r.Header); user == nil {
			if err := errors.Join(certErr, tokenErr); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrUnauthorized, err)
			}
			user = anonymous
		}
	}
	if r.Header["Authorization"] != nil {
		r.Header.Del("Authorization")
	}
	return user, nil
}

// Token returns who has a token.
func (a *Authenticator) Token(token string) (*User, error) {
	if user := a.Tokens.User(token); user != nil {
		return user, nil
	}
	return nil, errToken
}

func (a *Authenticator) byToken(header http.Header) (*User, error) {
	token := bearerToken(header)
	if token == "" {
		return nil, nil
	}
	return a.Token(token)
}

// bearerToken returns "" if there is none, or another kind of proof.
func bearerToken(header http.Header) string {
	values := header["Authorization"]
	if len(values) == 0 {
		return ""
	}
	scheme, rest, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	token, _, _ := strings.Cut(rest, " ")
	return token
}
