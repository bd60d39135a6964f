package authzconfig

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Options configures authorization with the flags of kube-apiserver. The zero value is RBAC alone; Defaults returns the defaults of
// the flags.
type Options struct {
	// ConfigFile is the file with an AuthorizationConfiguration; "" means that the other options apply.
	ConfigFile string
	// Modes are the authorizers in their order; empty means RBAC.
	Modes   []string
	Webhook Webhook
}

// Webhook configures the authorizer of the mode Webhook.
type Webhook struct {
	// ConfigFile is a file in kubeconfig format with the URL and the credentials of the webhook.
	ConfigFile string
	// Version is the version of the SubjectAccessReviews that are sent: v1 or v1beta1.
	Version string
	// AuthorizedTTL and UnauthorizedTTL are the times for which decisions are reused; 0 disables the cache of such decisions.
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

// The values of Options.Modes.
const (
	ModeRBAC        = "RBAC"
	ModeWebhook     = "Webhook"
	ModeAlwaysAllow = "AlwaysAllow"
	ModeAlwaysDeny  = "AlwaysDeny"
)

// Modes lists the values of Options.Modes.
var Modes = []string{ModeAlwaysAllow, ModeAlwaysDeny, ModeRBAC, ModeWebhook}

// Defaults returns the defaults of kube-apiserver's flags, except that the mode is RBAC.
func Defaults() Options {
	return Options{Webhook: Webhook{Version: "v1beta1", AuthorizedTTL: 5 * time.Minute, UnauthorizedTTL: 30 * time.Second}}
}

// IsDefault reports whether requests are authorized by RBAC alone.
func (o Options) IsDefault() bool {
	return o.ConfigFile == "" && (len(o.Modes) == 0 || slices.Equal(o.Modes, []string{ModeRBAC}))
}

// Check returns an error if the options are invalid, without reading files. The errors name the flags of the command line.
func (o Options) Check() error {
	if o.ConfigFile != "" && (len(o.Modes) > 0 || o.Webhook != (Webhook{}) && !reflect.DeepEqual(o.Webhook, Defaults().Webhook)) {
		return errors.New("--authorization-config: expected the file or --authorization-mode and --authorization-webhook-*, received both; move the webhook to the file")
	}
	for i, mode := range o.Modes {
		if !slices.Contains(Modes, mode) {
			return fmt.Errorf("--authorization-mode: expected modes of %q, received %q", Modes, mode)
		}
		if slices.Contains(o.Modes[:i], mode) {
			return fmt.Errorf("--authorization-mode: expected each mode once, received %q twice", mode)
		}
	}
	switch usesWebhook := slices.Contains(o.Modes, ModeWebhook); {
	case usesWebhook && o.Webhook.ConfigFile == "":
		return errors.New("--authorization-webhook-config-file: expected a file, because --authorization-mode contains Webhook, received none")
	case !usesWebhook && o.Webhook.ConfigFile != "":
		return errors.New("--authorization-webhook-config-file: must be unset unless --authorization-mode contains Webhook; add the mode")
	}
	if v := o.Webhook.Version; v != "" && v != "v1" && v != "v1beta1" {
		return fmt.Errorf("--authorization-webhook-version: expected v1 or v1beta1, received %q", v)
	}
	if o.Webhook.AuthorizedTTL < 0 || o.Webhook.UnauthorizedTTL < 0 {
		return fmt.Errorf("--authorization-webhook-cache-authorized-ttl, --authorization-webhook-cache-unauthorized-ttl: expected durations such as 30s, or 0, received %s and %s",
			o.Webhook.AuthorizedTTL, o.Webhook.UnauthorizedTTL)
	}
	return nil
}
