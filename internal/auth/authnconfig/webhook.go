package authnconfig

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authenticationv1beta1 "k8s.io/api/authentication/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/token/cache"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

// openWebhook creates the authenticator of the webhook, if one is configured.
func (a *Authenticators) openWebhook() error {
	o := a.options.Webhook
	if o.ConfigFile == "" {
		return nil
	}
	w := tokenWebhook{isBeta: o.Version == authenticationv1beta1.SchemeGroupVersion.Version, audiences: a.options.Audiences}
	register, version := authenticationv1.AddToScheme, authenticationv1.SchemeGroupVersion
	if w.isBeta {
		register, version = authenticationv1beta1.AddToScheme, authenticationv1beta1.SchemeGroupVersion
	}
	var err error
	if w.reviews, err = webhookclient.OpenReviews(o.ConfigFile, 0, register, version); err != nil {
		return fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	a.webhook = cache.New(w, false, o.CacheTTL, o.CacheTTL)
	return nil
}

// tokenWebhook is an authenticator that calls the webhook for each token.
type tokenWebhook struct {
	reviews   *webhookclient.Reviews
	isBeta    bool
	audiences authenticator.Audiences
}

// AuthenticateToken implements authenticator.Token. If the context has audiences, the token must be valid for one of them, according to
// the webhook or, if its response has no audiences, for one of the server.
func (w tokenWebhook) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	requested, isLimited := authenticator.AudiencesFrom(ctx)
	status, err := w.review(ctx, token, requested)
	if err != nil {
		return nil, false, err
	}
	if !status.Authenticated {
		if status.Error != "" {
			return nil, false, errors.New(status.Error)
		}
		return nil, false, nil
	}
	var audiences authenticator.Audiences
	if isLimited {
		valid := w.audiences
		if len(status.Audiences) > 0 {
			valid = status.Audiences
		}
		if audiences = requested.Intersect(valid); len(audiences) == 0 {
			return nil, false, nil
		}
	}
	user := &authn.User{Name: status.User.Username, UID: status.User.UID, Groups: status.User.Groups}
	for key, values := range status.User.Extra {
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		user.Extra[key] = values
	}
	return &authenticator.Response{User: user, Audiences: audiences}, true, nil
}

// review returns the status that the webhook returns for a token.
func (w tokenWebhook) review(ctx context.Context, token string, audiences []string) (status authenticationv1.TokenReviewStatus, err error) {
	if !w.isBeta {
		var result authenticationv1.TokenReview
		err := w.reviews.Send(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}, &result)
		return result.Status, err
	}
	var result authenticationv1beta1.TokenReview
	review := &authenticationv1beta1.TokenReview{Spec: authenticationv1beta1.TokenReviewSpec{Token: token, Audiences: audiences}}
	if err := w.reviews.Send(ctx, review, &result); err != nil {
		return status, err
	}
	// The two versions have the same fields.
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&result.Status)
	if err != nil {
		return status, err
	}
	return status, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &status)
}
