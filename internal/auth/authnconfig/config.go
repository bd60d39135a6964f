package authnconfig

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
)

// decoder decodes all versions of apiserver.config.k8s.io that kube-apiserver reads, and rejects unknown and duplicate fields.
var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder()
}()

// parse decodes and validates the content of Options.ConfigFile.
func (o Options) parse(content []byte) (*apiserver.AuthenticationConfiguration, error) {
	if len(content) == 0 {
		return nil, fmt.Errorf("%s: expected an AuthenticationConfiguration, received an empty file", o.ConfigFile)
	}
	decoded, err := runtime.Decode(decoder, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.ConfigFile, err)
	}
	c, ok := decoded.(*apiserver.AuthenticationConfiguration)
	if !ok {
		return nil, fmt.Errorf("%s: expected an AuthenticationConfiguration, received %T", o.ConfigFile, decoded)
	}
	if c.Anonymous != nil && o.Anonymous != nil {
		return nil, fmt.Errorf("%s: anonymous: must be unset if --anonymous-auth is set; remove one of them", o.ConfigFile)
	}
	return c, validate(o.ConfigFile, c)
}

// validate returns the errors of a configuration with the name of its source.
func validate(source string, c *apiserver.AuthenticationConfiguration) error {
	if err := validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), c, nil).ToAggregate(); err != nil {
		return fmt.Errorf("%s: invalid authentication configuration: %w", source, err)
	}
	return nil
}

// fromFlags returns the configuration that --oidc-* describes.
func (o OIDC) fromFlags() (*apiserver.AuthenticationConfiguration, error) {
	prefix := o.UsernamePrefix
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && o.UsernameClaim != "email":
		prefix = o.IssuerURL + "#" // as in Kubernetes, so that users of two issuers differ
	}
	issuer := apiserver.JWTAuthenticator{
		Issuer:        apiserver.Issuer{URL: o.IssuerURL, Audiences: []string{o.ClientID}},
		ClaimMappings: apiserver.ClaimMappings{Username: apiserver.PrefixedClaimOrExpression{Prefix: &prefix, Claim: o.UsernameClaim}},
	}
	if o.GroupsClaim != "" {
		issuer.ClaimMappings.Groups = apiserver.PrefixedClaimOrExpression{Prefix: &o.GroupsPrefix, Claim: o.GroupsClaim}
	}
	if o.CAFile != "" {
		content, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("--oidc-ca-file: %w", err)
		}
		issuer.Issuer.CertificateAuthority = string(content)
	}
	for _, claim := range slices.Sorted(maps.Keys(o.RequiredClaims)) {
		issuer.ClaimValidationRules = append(issuer.ClaimValidationRules, apiserver.ClaimValidationRule{Claim: claim, RequiredValue: o.RequiredClaims[claim]})
	}
	c := &apiserver.AuthenticationConfiguration{JWT: []apiserver.JWTAuthenticator{issuer}}
	return c, validate("--oidc-*", c)
}

// anonymousOf returns the configuration of anonymous requests: that of the file if there is one, otherwise that of --anonymous-auth.
func (o Options) anonymousOf(c *apiserver.AuthenticationConfiguration) apiserver.AnonymousAuthConfig {
	if c != nil && c.Anonymous != nil {
		return *c.Anonymous
	}
	return apiserver.AnonymousAuthConfig{Enabled: o.Anonymous == nil || *o.Anonymous}
}

// errAnonymousChanged is the error of a reload that would change which requests may be anonymous. As in kube-apiserver that needs a
// restart.
var errAnonymousChanged = errors.New("anonymous: must not change while the server runs; restart it")
