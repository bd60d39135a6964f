package authnconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

// Options configures authentication with the flags of kube-apiserver. The zero value accepts anonymous requests and no tokens;
// Defaults returns kube-apiserver's defaults.
type Options struct {
	// ConfigFile is the file with an AuthenticationConfiguration; "" means that there is none.
	ConfigFile string
	// Anonymous accepts or rejects requests without credentials; nil means that they are accepted unless ConfigFile configures it.
	Anonymous *bool
	// Audiences identify the server in tokens and TokenReviews.
	Audiences []string
	OIDC      OIDC
	Webhook   Webhook
}

// OIDC configures a single issuer of JSON web tokens, without a file.
type OIDC struct {
	IssuerURL, ClientID, CAFile   string
	UsernameClaim, UsernamePrefix string
	GroupsClaim, GroupsPrefix     string
	SigningAlgs                   []string
	RequiredClaims                map[string]string
}

// Webhook configures the webhook that verifies bearer tokens.
type Webhook struct {
	// ConfigFile is a file in kubeconfig format with the URL and the credentials of the webhook; "" disables the webhook.
	ConfigFile string
	// Version is the version of the TokenReviews that are sent: v1 or v1beta1.
	Version string
	// CacheTTL is the time for which results are reused; 0 disables the cache.
	CacheTTL time.Duration
}

// DefaultAudience is the default of Options.Audiences, which is also the issuer of service account tokens in most clusters.
const DefaultAudience = "https://kubernetes.default.svc"

const (
	defaultUsernameClaim = "sub"
	defaultSigningAlg    = "RS256"
)

// Defaults returns the defaults of kube-apiserver's flags.
func Defaults() Options {
	return Options{
		Audiences: []string{DefaultAudience},
		OIDC:      OIDC{UsernameClaim: defaultUsernameClaim, SigningAlgs: []string{defaultSigningAlg}},
		Webhook:   Webhook{Version: "v1beta1", CacheTTL: 2 * time.Minute},
	}
}

// withDefaults returns o with defaults in the place of zero values that would be invalid.
func (o Options) withDefaults() Options {
	if o.OIDC.UsernameClaim == "" {
		o.OIDC.UsernameClaim = defaultUsernameClaim
	}
	if len(o.OIDC.SigningAlgs) == 0 {
		o.OIDC.SigningAlgs = []string{defaultSigningAlg}
	}
	if len(o.Audiences) == 0 {
		o.Audiences = []string{DefaultAudience}
	}
	if o.Webhook.Version == "" {
		o.Webhook.Version = "v1beta1"
	}
	return o
}

// isSet reports whether an option differs from its default.
func (o OIDC) isSet() bool {
	d := Defaults().OIDC
	return o.IssuerURL != "" || o.ClientID != "" || o.CAFile != "" || o.UsernameClaim != d.UsernameClaim || o.UsernamePrefix != "" ||
		o.GroupsClaim != "" || o.GroupsPrefix != "" || !slices.Equal(o.SigningAlgs, d.SigningAlgs) || len(o.RequiredClaims) > 0
}

// Check returns an error if the options are invalid, without reading files. The errors name the flags of the command line.
func (o Options) Check() error {
	o = o.withDefaults()
	if o.ConfigFile != "" && o.OIDC.isSet() {
		return errors.New("--authentication-config, --oidc-*: expected the file or flags, received both; move the issuer to the file")
	}
	if o.OIDC.isSet() && (o.OIDC.IssuerURL == "" || o.OIDC.ClientID == "") {
		return fmt.Errorf("--oidc-issuer-url, --oidc-client-id: expected both when an --oidc-* flag is set, received %q and %q", o.OIDC.IssuerURL, o.OIDC.ClientID)
	}
	for _, alg := range o.OIDC.SigningAlgs {
		if all := oidc.AllValidSigningAlgorithms(); !slices.Contains(all, alg) {
			return fmt.Errorf("--oidc-signing-algs: expected algorithms of %q, received %q", all, alg)
		}
	}
	for _, claim := range slices.Sorted(maps.Keys(o.OIDC.RequiredClaims)) {
		if claim == "" {
			return errors.New("--oidc-required-claim: expected CLAIM=VALUE, received an empty claim")
		}
	}
	if v := o.Webhook.Version; v != "v1" && v != "v1beta1" {
		return fmt.Errorf("--authentication-token-webhook-version: expected v1 or v1beta1, received %q", v)
	}
	if o.Webhook.CacheTTL < 0 {
		return fmt.Errorf("--authentication-token-webhook-cache-ttl: expected a duration such as 2m, or 0, received %s", o.Webhook.CacheTTL)
	}
	return nil
}
