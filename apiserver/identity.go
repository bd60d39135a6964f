package apiserver

import (
	"time"

	"github.com/cadastre/cadastre/internal/app"
	"github.com/cadastre/cadastre/internal/auth/authnconfig"
	"github.com/cadastre/cadastre/internal/auth/authzconfig"
)

// AuthenticationOptions configures authentication, with the flags of kube-apiserver. [DefaultAuthenticationOptions] returns the
// defaults.
type AuthenticationOptions struct {
	// ConfigFile is the file with an AuthenticationConfiguration; "" means that there is none.
	ConfigFile string
	// Anonymous accepts or rejects requests without credentials; nil means that they are accepted unless ConfigFile configures it.
	Anonymous *bool
	// Audiences identify the server in tokens and TokenReviews.
	Audiences []string
	OIDC      OIDC
	Webhook   AuthenticationWebhook
}

// OIDC configures a single issuer of JSON web tokens, without a file.
type OIDC struct {
	IssuerURL, ClientID, CAFile   string
	UsernameClaim, UsernamePrefix string
	GroupsClaim, GroupsPrefix     string
	SigningAlgs                   []string
	RequiredClaims                map[string]string
}

// AuthenticationWebhook configures the webhook that verifies bearer tokens.
type AuthenticationWebhook struct {
	// ConfigFile is a file in kubeconfig format with the URL and the credentials of the webhook; "" disables the webhook.
	ConfigFile string
	// Version is the version of the TokenReviews that are sent: v1 or v1beta1.
	Version string
	// CacheTTL is the time for which results are reused; 0 disables the cache.
	CacheTTL time.Duration
}

// DefaultAuthenticationOptions returns the defaults of kube-apiserver's flags.
func DefaultAuthenticationOptions() AuthenticationOptions {
	d := authnconfig.Defaults()
	return AuthenticationOptions{d.ConfigFile, d.Anonymous, d.Audiences, OIDC(d.OIDC), AuthenticationWebhook(d.Webhook)}
}

// Check returns an error if an option is invalid. The errors name the flags of kube-apiserver. [New] calls it.
func (o AuthenticationOptions) Check() error { return o.config().Check() }

// config returns the options of authentication as the server uses them.
func (o AuthenticationOptions) config() authnconfig.Options {
	return authnconfig.Options{
		ConfigFile: o.ConfigFile, Anonymous: o.Anonymous, Audiences: o.Audiences,
		OIDC: authnconfig.OIDC(o.OIDC), Webhook: authnconfig.Webhook(o.Webhook),
	}
}

// AuthorizationOptions configures authorization, with the flags of kube-apiserver. [DefaultAuthorizationOptions] returns the
// defaults.
type AuthorizationOptions struct {
	// ConfigFile is the file with an AuthorizationConfiguration; "" means that the other options apply.
	ConfigFile string
	// Modes are the authorizers in their order, each one of [AuthorizationModes]; empty means RBAC.
	Modes   []string
	Webhook AuthorizationWebhook
}

// AuthorizationWebhook configures the authorizer of the mode Webhook.
type AuthorizationWebhook struct {
	// ConfigFile is a file in kubeconfig format with the URL and the credentials of the webhook.
	ConfigFile string
	// Version is the version of the SubjectAccessReviews that are sent: v1 or v1beta1.
	Version string
	// AuthorizedTTL and UnauthorizedTTL are the times for which decisions are reused; 0 disables the cache of such decisions.
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

// AuthorizationModes lists the values of AuthorizationOptions.Modes.
var AuthorizationModes = authzconfig.Modes

// DefaultAuthorizationOptions returns the defaults of kube-apiserver's flags, except that requests are authorized by RBAC.
func DefaultAuthorizationOptions() AuthorizationOptions {
	d := authzconfig.Defaults()
	return AuthorizationOptions{d.ConfigFile, d.Modes, AuthorizationWebhook(d.Webhook)}
}

// Check returns an error if an option is invalid. The errors name the flags of kube-apiserver. [New] calls it.
func (o AuthorizationOptions) Check() error { return o.config().Check() }

// config returns the options of authorization as the server uses them.
func (o AuthorizationOptions) config() authzconfig.Options {
	return authzconfig.Options{ConfigFile: o.ConfigFile, Modes: o.Modes, Webhook: authzconfig.Webhook(o.Webhook)}
}

// SigningOptions configures the signing of approved CertificateSigningRequests of clients.
type SigningOptions struct {
	// CertFile and KeyFile are the CA certificate that signs and its key. If they are "", the authority of the server signs.
	CertFile, KeyFile string
	// Duration is the maximum lifetime of certificates; 0 means a year. A negative value disables signing.
	Duration time.Duration
}

// config returns the options of signing as the server uses them.
func (o SigningOptions) config() app.Signing { return app.Signing(o) }
