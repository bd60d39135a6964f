package authn

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/union"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authentication/user"
)

// errToken is the error for a bearer token that no authenticator accepts. It does not contain the token.
var errToken = errors.New("invalid bearer token")

// AuthenticatorOptions configures an [Authenticator]. The zero value accepts no credentials.
type AuthenticatorOptions struct {
	// Certificates verifies client certificates; nil accepts no certificate.
	Certificates *Certificates
	// Tokens are the static bearer tokens; nil accepts no token.
	Tokens *Tokens
	// TokenAuthenticators verify bearer tokens that are not static tokens. They are called in this order until an authenticator
	// accepts the token.
	TokenAuthenticators []authenticator.Token
	// RequestAuthenticators verify requests that contain neither a valid certificate nor a valid token. They are called in this
	// order until an authenticator accepts the request.
	RequestAuthenticators []authenticator.Request
}

// Authenticator identifies the user of a request by client certificate, by bearer token, and then by the authenticators of
// AuthenticatorOptions. It implements authenticator.Request and, for TokenReviews, authenticator.Token. It is safe for
// concurrent use.
type Authenticator struct {
	requests authenticator.Request
	tokens   authenticator.Token
}

// NewAuthenticator returns an Authenticator. It adds the group system:authenticated to users that the authenticators of the
// options return, as kube-apiserver does; users of certificates and static tokens already have it.
func NewAuthenticator(o AuthenticatorOptions) *Authenticator {
	tokens := []authenticator.Token{o.Tokens}
	for _, t := range o.TokenAuthenticators {
		tokens = append(tokens, tokenGroups{t})
	}
	a := &Authenticator{tokens: tokenunion.New(tokens...)}
	requests := []authenticator.Request{o.Certificates, bearerTokens{a.tokens}}
	for _, r := range o.RequestAuthenticators {
		requests = append(requests, requestGroups{r})
	}
	a.requests = union.New(requests...)
	return a
}

// AuthenticateRequest implements authenticator.Request. It returns false and no error for a request without credentials,
// and an error if the request has credentials and none is valid. It removes the Authorization header of an
// authenticated request, so that a handler cannot log or forward it.
func (a *Authenticator) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := a.requests.AuthenticateRequest(r)
	if ok && r.Header["Authorization"] != nil {
		r.Header.Del("Authorization")
	}
	return response, ok, err
}

// AuthenticateToken implements authenticator.Token.
func (a *Authenticator) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	return a.tokens.AuthenticateToken(ctx, token)
}

// requestGroups and tokenGroups add the group system:authenticated to the users that an authenticator returns.
type (
	requestGroups struct{ authenticator.Request }
	tokenGroups   struct{ authenticator.Token }
)

// AuthenticateRequest implements authenticator.Request.
func (g requestGroups) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := g.Request.AuthenticateRequest(r)
	return withImpliedGroup(response, ok, err)
}

// AuthenticateToken implements authenticator.Token.
func (g tokenGroups) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	response, ok, err := g.Token.AuthenticateToken(ctx, token)
	return withImpliedGroup(response, ok, err)
}

// withImpliedGroup adds the group system:authenticated to the user of a response, unless the user is in that group or in
// system:unauthenticated. The response may be shared between requests, so withImpliedGroup changes a copy.
func withImpliedGroup(response *authenticator.Response, ok bool, err error) (*authenticator.Response, bool, error) {
	if err != nil || !ok {
		return nil, false, err
	}
	if response == nil || response.User == nil {
		return nil, false, errors.New("an authenticator has accepted a request, but has not returned a user")
	}
	if InGroup(response.User, AuthenticatedGroup) || InGroup(response.User, UnauthenticatedGroup) {
		return response, true, nil
	}
	with := *response
	with.User = WithImpliedGroup(copyUser(response.User))
	return &with, true, nil
}

func copyUser(u user.Info) *User {
	return &User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
}

// bearerTokens authenticates requests by their bearer token.
type bearerTokens struct{ tokens authenticator.Token }

// AuthenticateRequest implements authenticator.Request.
func (b bearerTokens) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	token := bearerToken(r.Header)
	if token == "" {
		return nil, false, nil
	}
	response, ok, err := b.tokens.AuthenticateToken(r.Context(), token)
	if !ok && err == nil {
		err = errToken
	}
	return response, ok, err
}

// bearerToken returns the bearer token of a request; "" if there is no Authorization header or its scheme is not Bearer.
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
