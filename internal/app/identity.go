package app

import (
	"cmp"
	"context"
	"net"
	"slices"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authnconfig"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/auth/authzconfig"
	"github.com/cadastre/cadastre/internal/lib/reload"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/server"
)

// Reload loads all configuration files, also those that have not changed. It does not wait for the result, which is logged.
func (s *Server) Reload() { s.files.Reload() }

// openIdentity returns the authenticator, and opens the authority that signs certificates. If the server listens, it also opens its own
// certificate authority.
func (s *Server) openIdentity(ctx context.Context, counted *metrics.Metrics) (*authn.Authenticator, error) {
	configured, err := authnconfig.Open(s.lifecycle, s.config.Authentication, s.files, counted.ReloadOf(metrics.AuthenticationConfig))
	if err != nil {
		return nil, err
	}
	o := authn.AuthenticatorOptions{
		Configured: configured, Anonymous: configured.Anonymous(), Audiences: configured.Audiences(),
		TokenAuthenticators:   s.config.TokenAuthenticators,
		RequestAuthenticators: append([]authenticator.Request{server.InProcessAuthenticator}, s.config.Authenticators...),
	}
	if s.socket != nil {
		if err := s.openAuthority(ctx); err != nil {
			return nil, err
		}
		o.Certificates = s.Authority.Certificates()
	}
	if s.config.TokenFile != "" {
		o.Tokens = &authn.Tokens{}
		err := s.files.Add(ctx, reload.Source{Name: "token file", Files: []string{s.config.TokenFile}, Load: func(_ context.Context, contents [][]byte) error {
			return o.Tokens.Reload(s.config.TokenFile, contents[0])
		}})
		if err != nil {
			return nil, err
		}
	}
	if err := s.openSigningCA(ctx); err != nil {
		return nil, err
	}
	return authn.NewAuthenticator(o), nil
}

// openAuthority opens the certificate authority. The serving certificate is valid for the host of Config.Address, which may
// be a DNS name, or for the address of Config.Listener if that is set.
func (s *Server) openAuthority(ctx context.Context) (err error) {
	address := s.config.Address
	if s.config.Listener != nil {
		address = s.address()
	}
	var hosts []string
	if host, _, err := net.SplitHostPort(address); err == nil { // the address of a listener that is not TCP contains no host
		hosts = []string{host}
	}
	s.Authority, err = authn.Open(authn.Options{
		Folder: s.dir("pki"), Hosts: hosts,
		CertFile: s.config.CertFile, KeyFile: s.config.KeyFile, ClientCAFile: s.config.ClientCAFile,
	})
	if err != nil {
		return err
	}
	return s.followCertificates(ctx)
}

// followCertificates loads the configured serving certificate and client CAs again when their files change.
func (s *Server) followCertificates(ctx context.Context) error {
	if file := s.config.ClientCAFile; file != "" {
		err := s.files.Add(ctx, reload.Source{Name: "client CA certificates", Files: []string{file}, Load: func(_ context.Context, contents [][]byte) error {
			return s.Authority.ReloadClientCAs(contents[0])
		}})
		if err != nil {
			return err
		}
	}
	if s.config.CertFile == "" {
		return nil
	}
	return s.files.Add(ctx, reload.Source{Name: "serving certificate", Files: []string{s.config.CertFile, s.config.KeyFile}, Load: func(_ context.Context, contents [][]byte) error {
		return s.Authority.ReloadServing(contents[0], contents[1])
	}})
}

// openAuthorizer sets the authorizers. RBAC alone is used directly, without a list of authorizers.
func (s *Server) openAuthorizer(ctx context.Context, counted *metrics.Metrics) (err error) {
	if s.rbac, err = rbac.New(ctx, s.cache, s.config.Log); err != nil {
		return err
	}
	s.configured = s.rbac
	if !s.config.Authorization.IsDefault() {
		configured, err := authzconfig.Open(ctx, s.config.Authorization, authzconfig.Dependencies{
			RBAC: s.rbac, RequestTimeout: cmp.Or(s.config.Limits.RequestTimeout, server.DefaultRequestTimeout),
			Files: s.files, Report: counted.ReloadOf(metrics.AuthorizationConfig),
		})
		if err != nil {
			return err
		}
		s.configured = configured
	}
	s.authorizer = rbac.Union(s.configured, s.config.Authorizers...)
	return nil
}

// authorizers returns all authorizers in their order.
func (s *Server) authorizers() []authorizer.Authorizer {
	return append(slices.Clip(s.config.Authorizers), s.configured)
}
