package authn

import (
	"context"
	"errors"
	"fmt"
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
	// Configured verifies bearer tokens that are not static tokens, for the audiences of its context. It adds the implied groups
	// itself. It is called before TokenAuthenticators; nil accepts no token.
	Configured authenticator.Token
	// TokenAuthenticators verify bearer tokens that no authenticator above has accepted. They are called in this order until an
	// authenticator accepts the token.
	TokenAuthenticators []authenticator.Token
	// RequestAuthenticators verify requests that contain neither a valid certificate nor a valid token. They are called in this
	// order until an authenticator accepts the request.
	RequestAuthenticators []authenticator.Request
	// Anonymous authenticates requests without credentials; nil accepts none.
	Anonymous authenticator.Request
	// Audiences identify the server: a token for other audiences only is not accepted.
	Audiences authenticator.Audiences
}

// Authenticator identifies the user of a request by client certificate, by bearer token, and then by the authenticators of
// AuthenticatorOptions. It implements authenticator.Request and, for TokenReviews, authenticator.Token. It is safe for
// concurrent use.
type Authenticator struct {
	requests  authenticator.Request
	tokens    authenticator.Token
	anonymous authenticator.Request
	audiences authenticator.Audiences
}

// Audiences returns the audiences that identify the server.
func (a *Authenticator) Audiences() authenticator.Audiences { return a.audiences }

// NewAuthenticator returns an Authenticator. It adds the group system:authenticated to users that TokenAuthenticators and
// RequestAuthenticators return, as kube-apiserver does; other users already have it.
func NewAuthenticator(o AuthenticatorOptions) *Authenticator {
	var remote []authenticator.Token
	if o.Configured != nil {
		remote = append(remote, o.Configured)
	}
	for _, t := range o.TokenAuthenticators {
		remote = append(remote, audienceAgnostic{tokenGroups{t}, o.Audiences})
	}
	others := tokenunion.New(remote...)
	a := &Authenticator{tokens: tokenunion.New(audienceAgnostic{o.Tokens, o.Audiences}, others), anonymous: o.Anonymous, audiences: o.Audiences}
	requests := []authenticator.Request{o.Certificates, bearerTokens{o.Tokens, others, o.Audiences}}
	for _, r := range o.RequestAuthenticators {
		requests = append(requests, requestGroups{r})
	}
	a.requests = union.New(requests...)
	return a
}

// AuthenticateRequest implements authenticator.Request. It returns false and no error for a request without credentials that may not
// be anonymous, and an error if the request has credentials and none is valid. It removes the Authorization header of an
// authenticated request, so that a handler cannot log or forward it.
func (a *Authenticator) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := a.requests.AuthenticateRequest(r)
	if ok && r.Header["Authorization"] != nil {
		r.Header.Del("Authorization")
	}
	if !ok && err == nil && a.anonymous != nil {
		return a.anonymous.AuthenticateRequest(r)
	}
	return response, ok, err
}

// AuthenticateToken implements authenticator.Token. If the context has audiences, the token must be for one of them, and the response
// contains those for which it is valid.
func (a *Authenticator) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	return a.tokens.AuthenticateToken(ctx, token)
}

// audienceAgnostic adapts an authenticator that does not know audiences: its tokens are valid for the audiences of the server. Unlike
// authenticator.WrapAudienceAgnosticToken it does not change responses, which are shared between requests.
type audienceAgnostic struct {
	authenticator.Token
	audiences authenticator.Audiences
}

// AuthenticateToken implements authenticator.Token.
func (a audienceAgnostic) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	requested, isLimited := authenticator.AudiencesFrom(ctx)
	valid := a.audiences.Intersect(requested)
	if isLimited && len(valid) == 0 {
		return nil, false, nil
	}
	response, ok, err := a.Token.AuthenticateToken(ctx, token)
	if !ok || err != nil || !isLimited || len(response.Audiences) > 0 {
		return response, ok, err
	}
	with := *response
	with.Audiences = valid
	return &with, true, nil
}

// requestGroups and tokenGroups add the group system:authenticated to the users that an authenticator returns.
type (
	requestGroups struct{ authenticator.Request }
	tokenGroups   struct{ authenticator.Token }
)

// WithTokenGroups returns an authenticator that adds the group system:authenticated to the users that t returns.
func WithTokenGroups(t authenticator.Token) authenticator.Token { return tokenGroups{t} }

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

// bearerTokens authenticates requests by their bearer token: first as a static token, which needs no context, then by others.
type bearerTokens struct {
	static    *Tokens
	others    authenticator.Token
	audiences authenticator.Audiences
}

// AuthenticateRequest implements authenticator.Request.
func (b bearerTokens) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	token := bearerToken(r.Header)
	if token == "" {
		return nil, false, nil
	}
	if response, ok, err := b.static.AuthenticateToken(r.Context(), token); ok || err != nil {
		return response, ok, err
	}
	ctx := r.Context()
	if len(b.audiences) > 0 {
		ctx = authenticator.WithAudiences(ctx, b.audiences)
	}
	response, ok, err := b.others.AuthenticateToken(ctx, token)
	switch {
	case err != nil:
		return nil, false, err
	case !ok:
		return nil, false, errToken
	case len(response.Audiences) > 0 && len(b.audiences.Intersect(response.Audiences)) == 0:
		return nil, false, fmt.Errorf("bearer token: expected one of the audiences %q, received %q", b.audiences, response.Audiences)
	}
	return response, true, nil
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
