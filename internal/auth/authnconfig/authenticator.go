package authnconfig

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/lib/reload"
)

const (
	// successTTL is the time for which an accepted token is not verified again, as in kube-apiserver. Rejected tokens are not cached.
	successTTL = 10 * time.Second
	// readyTimeout is the maximum time for which a reload waits for the keys of new issuers, as in kube-apiserver. readyPoll is the
	// interval of the checks.
	readyTimeout = time.Minute
	readyPoll    = 100 * time.Millisecond
	// retirement is the time after which the authenticators of a replaced configuration, which requests may still use, end.
	retirement = time.Minute
)

// Authenticators are the configured authenticators. They are safe for concurrent use.
type Authenticators struct {
	options Options
	// lifecycle ends the goroutines that fetch the keys of issuers.
	lifecycle context.Context
	webhook   authenticator.Token
	// fileAnonymous is the section anonymous of the file at the start; nil if there is none.
	fileAnonymous *apiserver.AnonymousAuthConfig
	anonymous     authenticator.Request
	current       atomic.Pointer[generation]
}

// generation is what a configuration file determines until it changes.
type generation struct {
	tokens  authenticator.Token // includes the webhook; nil if nothing verifies tokens
	healthy func() error
	cancel  context.CancelFunc
}

// Open returns the authenticators of the options, and adds the configuration file to a reloader. ctx ends their background work.
// report is called with the result of each reload.
func Open(ctx context.Context, o Options, files *reload.Reloader, report func(error)) (*Authenticators, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	a := &Authenticators{options: o.withDefaults(), lifecycle: ctx}
	if err := a.openWebhook(); err != nil {
		return nil, err
	}
	c := &apiserver.AuthenticationConfiguration{}
	var err error
	switch {
	case o.ConfigFile != "":
		isFirst := true
		err = files.Add(ctx, reload.Source{Name: "authentication configuration", Files: []string{o.ConfigFile}, Report: report,
			Load: func(ctx context.Context, contents [][]byte) error {
				if isFirst {
					isFirst = false
					return a.load(contents[0])
				}
				return a.reload(ctx, contents[0])
			}})
		return a, err
	case a.options.OIDC.isSet():
		if c, err = a.options.OIDC.fromFlags(); err != nil {
			return nil, err
		}
	}
	return a, a.start(c)
}

// load puts the configuration file into effect at the start. Unlike reload it does not wait for issuers, which may be started later.
func (a *Authenticators) load(content []byte) error {
	c, err := a.options.parse(content)
	if err != nil {
		return err
	}
	a.fileAnonymous = c.Anonymous
	return a.start(c)
}

// start puts the first configuration into effect.
func (a *Authenticators) start(c *apiserver.AuthenticationConfiguration) error {
	if config := a.options.anonymousOf(c); config.Enabled {
		a.anonymous = anonymous.NewAuthenticator(config.Conditions)
	}
	g, err := a.newGeneration(c)
	if err == nil {
		a.current.Store(g)
	}
	return err
}

// reload replaces the configuration after its file has changed. It waits until the keys of all issuers have been fetched, so that no
// token that was valid before and after the change is rejected.
func (a *Authenticators) reload(ctx context.Context, content []byte) error {
	c, err := a.options.parse(content)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(a.fileAnonymous, c.Anonymous) {
		return fmt.Errorf("%s: %w", a.options.ConfigFile, errAnonymousChanged)
	}
	g, err := a.newGeneration(c)
	if err != nil {
		return err
	}
	if err := g.waitReady(ctx); err != nil {
		g.cancel()
		return reload.Temporary(fmt.Errorf("%s: %w", a.options.ConfigFile, err))
	}
	time.AfterFunc(retirement, a.current.Swap(g).cancel)
	return nil
}

// waitReady waits until the keys of all issuers have been fetched, at most for readyTimeout.
func (g *generation) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		err := g.healthy()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// newGeneration returns the authenticators for a configuration, without waiting for the keys of the issuers.
func (a *Authenticators) newGeneration(c *apiserver.AuthenticationConfiguration) (*generation, error) {
	ctx, cancel := context.WithCancel(a.lifecycle)
	var issuers []authenticator.Token
	var checks []func() error
	for _, issuer := range c.JWT {
		o := oidc.Options{JWTAuthenticator: issuer}
		if a.options.ConfigFile == "" {
			o.SupportedSigningAlgs = a.options.OIDC.SigningAlgs
		} else {
			o.SupportedSigningAlgs = oidc.AllValidSigningAlgorithms()
		}
		if ca := issuer.Issuer.CertificateAuthority; ca != "" {
			o.CAContentProvider = staticCA(ca)
		}
		verifier, err := oidc.New(ctx, o)
		if err != nil {
			cancel()
			return nil, err
		}
		issuers, checks = append(issuers, verifier), append(checks, verifier.HealthCheck)
	}
	g := &generation{cancel: cancel, healthy: func() error {
		errs := make([]error, 0, len(checks))
		for _, check := range checks {
			errs = append(errs, check())
		}
		return utilerrors.NewAggregate(errs)
	}}
	var all []authenticator.Token
	if len(issuers) > 0 {
		all = append(all, authenticator.WrapAudienceAgnosticToken(a.options.Audiences, union.NewFailOnError(issuers...)))
	}
	if a.webhook != nil {
		all = append(all, a.webhook)
	}
	if len(all) > 0 {
		g.tokens = cache.New(authn.WithTokenGroups(union.New(all...)), true, successTTL, 0)
	}
	return g, nil
}

// staticCA is the PEM text of CA certificates.
type staticCA string

// CurrentCABundleContent implements oidc.CAContentProvider.
func (c staticCA) CurrentCABundleContent() []byte { return []byte(c) }

// Audiences returns the audiences that identify the server.
func (a *Authenticators) Audiences() authenticator.Audiences { return a.options.Audiences }

// Anonymous returns the authenticator of requests without credentials; nil if they are rejected.
func (a *Authenticators) Anonymous() authenticator.Request { return a.anonymous }

// AuthenticateToken implements authenticator.Token, for tokens of issuers and of the webhook.
func (a *Authenticators) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	tokens := a.current.Load().tokens
	if tokens == nil {
		return nil, false, nil
	}
	return tokens.AuthenticateToken(ctx, token)
}
