package authnconfig

import (
	"fmt"

	"k8s.io/apiserver/pkg/authentication/token/cache"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"

	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

// openWebhook creates the authenticator of the webhook, if one is configured.
func (a *Authenticators) openWebhook() error {
	o := a.options.Webhook
	if o.ConfigFile == "" {
		return nil
	}
	config, err := webhookutil.LoadKubeconfig(o.ConfigFile, nil)
	if err != nil {
		return fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	config.Wrap(webhookclient.RejectRedirects)
	reviews, err := webhook.New(config, o.Version, a.options.Audiences, webhookclient.AuthRetries())
	if err != nil {
		return fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	a.webhook = cache.New(reviews, false, o.CacheTTL, o.CacheTTL)
	return nil
}
