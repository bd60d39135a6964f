package authzconfig

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/load"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
)

// webhookTimeout is the timeout of the webhook of the flags, which have no option for it, as in kube-apiserver.
const webhookTimeout = 30 * time.Second

// parse decodes and validates the content of Options.ConfigFile.
func (a *Authorizer) parse(content []byte) (*apiserver.AuthorizationConfiguration, error) {
	c, err := load.LoadFromData(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.options.ConfigFile, err)
	}
	if err := validation.ValidateAuthorizationConfiguration(a.compiler, nil, c, sets.New(Modes...), sets.New(ModeWebhook)).ToAggregate(); err != nil {
		return nil, fmt.Errorf("%s: invalid authorization configuration: %w", a.options.ConfigFile, err)
	}
	for i, each := range c.Authorizers {
		if each.Type == apiserver.TypeWebhook {
			if each.Webhook.ConnectionInfo.Type != apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile {
				return nil, fmt.Errorf("%s: authorizers[%d].webhook.connectionInfo.type: expected %s, received %q", a.options.ConfigFile, i,
					apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile, each.Webhook.ConnectionInfo.Type)
			}
		} else if name := strings.ToLower(string(each.Type)); each.Name != name {
			return nil, fmt.Errorf("%s: authorizers[%d].name: expected %s for type %s, received %q", a.options.ConfigFile, i, name, each.Type, each.Name)
		}
	}
	return c, nil
}

// fromFlags returns the configuration that --authorization-mode and --authorization-webhook-* describe.
func (o Options) fromFlags() *apiserver.AuthorizationConfiguration {
	c := &apiserver.AuthorizationConfiguration{}
	modes := o.Modes
	if len(modes) == 0 {
		modes = []string{ModeRBAC}
	}
	for _, mode := range modes {
		each := apiserver.AuthorizerConfiguration{Type: apiserver.AuthorizerType(mode), Name: strings.ToLower(mode)}
		if mode == ModeWebhook {
			each.Name = "default"
			each.Webhook = &apiserver.WebhookConfiguration{
				AuthorizedTTL: metav1.Duration{Duration: o.Webhook.AuthorizedTTL}, CacheAuthorizedRequests: o.Webhook.AuthorizedTTL != 0,
				UnauthorizedTTL: metav1.Duration{Duration: o.Webhook.UnauthorizedTTL}, CacheUnauthorizedRequests: o.Webhook.UnauthorizedTTL != 0,
				Timeout: metav1.Duration{Duration: webhookTimeout}, FailurePolicy: apiserver.FailurePolicyNoOpinion,
				SubjectAccessReviewVersion: cmp.Or(o.Webhook.Version, Defaults().Webhook.Version),
				ConnectionInfo: apiserver.WebhookConnectionInfo{
					Type: apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile, KubeConfigFile: &o.Webhook.ConfigFile,
				},
			}
		}
		c.Authorizers = append(c.Authorizers, each)
	}
	return c
}
