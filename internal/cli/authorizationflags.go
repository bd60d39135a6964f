package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/apiserver"
)

// bindAuthorizationFlags adds the flags of kube-apiserver that configure authorization. o has their defaults.
func bindAuthorizationFlags(flags *pflag.FlagSet, o *apiserver.AuthorizationOptions) {
	flags.StringVar(&o.ConfigFile, "authorization-config", "", "A `file` with an AuthorizationConfiguration: the list of authorizers, with webhooks. It is loaded again when it changes.")
	flags.StringSliceVar(&o.Modes, "authorization-mode", nil, "The `authorizers` in their order, separated by commas: "+strings.Join(apiserver.AuthorizationModes, ", ")+". The default is RBAC.")
	flags.StringVar(&o.Webhook.ConfigFile, "authorization-webhook-config-file", "", "A `file` in kubeconfig format with the webhook of the mode Webhook.")
	flags.StringVar(&o.Webhook.Version, "authorization-webhook-version", o.Webhook.Version, "The `version` of the SubjectAccessReviews that the webhook receives: v1 or v1beta1.")
	flags.DurationVar(&o.Webhook.AuthorizedTTL, "authorization-webhook-cache-authorized-ttl", o.Webhook.AuthorizedTTL, "The time for which permissions by the webhook are reused. 0 disables their cache.")
	flags.DurationVar(&o.Webhook.UnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", o.Webhook.UnauthorizedTTL, "The time for which rejections by the webhook are reused. 0 disables their cache.")
}
