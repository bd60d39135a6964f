package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/apiserver"
)

// authenticationFlags are the flags of kube-apiserver that configure authentication. check sets options.
type authenticationFlags struct {
	options        apiserver.AuthenticationOptions
	anonymous      bool
	requiredClaims []string
	flags          *pflag.FlagSet
}

func (f *authenticationFlags) bind(flags *pflag.FlagSet) {
	f.flags, f.options = flags, apiserver.DefaultAuthenticationOptions()
	o := &f.options
	flags.StringVar(&o.ConfigFile, "authentication-config", "", "A `file` with an AuthenticationConfiguration: issuers of JSON web tokens, anonymous requests. It is loaded again when it changes.")
	flags.BoolVar(&f.anonymous, "anonymous-auth", true, "Accept requests without credentials, as the user system:anonymous in the group system:unauthenticated.")
	flags.StringSliceVar(&o.Audiences, "api-audiences", o.Audiences, "The `audiences` that identify this server in tokens, separated by commas.")
	flags.StringVar(&o.OIDC.IssuerURL, "oidc-issuer-url", "", "The https `URL` of an OpenID Connect issuer whose tokens are accepted.")
	flags.StringVar(&o.OIDC.ClientID, "oidc-client-id", "", "The `audience` that tokens of the issuer must have.")
	flags.StringVar(&o.OIDC.CAFile, "oidc-ca-file", "", "A `file` with the CA certificates of the issuer. The default is the CA certificates of the machine.")
	flags.StringVar(&o.OIDC.UsernameClaim, "oidc-username-claim", o.OIDC.UsernameClaim, "The `claim` with the user name.")
	flags.StringVar(&o.OIDC.UsernamePrefix, "oidc-username-prefix", "", "The `prefix` of user names; - means none. The default is the issuer's URL and #, or none for the claim email.")
	flags.StringVar(&o.OIDC.GroupsClaim, "oidc-groups-claim", "", "The `claim` with the groups: a string or a list of strings.")
	flags.StringVar(&o.OIDC.GroupsPrefix, "oidc-groups-prefix", "", "The `prefix` of groups.")
	flags.StringSliceVar(&o.OIDC.SigningAlgs, "oidc-signing-algs", o.OIDC.SigningAlgs, "The signature `algorithms` that are accepted, separated by commas.")
	flags.StringArrayVar(&f.requiredClaims, "oidc-required-claim", nil, "A `CLAIM=VALUE` that tokens must have. May be repeated.")
	flags.StringVar(&o.Webhook.ConfigFile, "authentication-token-webhook-config-file", "", "A `file` in kubeconfig format with the webhook that verifies bearer tokens.")
	flags.StringVar(&o.Webhook.Version, "authentication-token-webhook-version", o.Webhook.Version, "The `version` of the TokenReviews that the webhook receives: v1 or v1beta1.")
	flags.DurationVar(&o.Webhook.CacheTTL, "authentication-token-webhook-cache-ttl", o.Webhook.CacheTTL, "The time for which responses of the webhook are reused. 0 disables the cache.")
}

// check validates the flags and sets the options that depend on whether a flag is set.
func (f *authenticationFlags) check() error {
	if f.flags != nil && f.flags.Changed("anonymous-auth") {
		f.options.Anonymous = &f.anonymous
	}
	for _, text := range f.requiredClaims {
		claim, value, ok := strings.Cut(text, "=")
		if !ok || claim == "" {
			return fmt.Errorf("--oidc-required-claim: expected CLAIM=VALUE, received %q", text)
		}
		if f.options.OIDC.RequiredClaims == nil {
			f.options.OIDC.RequiredClaims = map[string]string{}
		}
		f.options.OIDC.RequiredClaims[claim] = value
	}
	return f.options.Check()
}
