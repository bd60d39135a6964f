package client

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// FeatureGate is the name of the feature gate that enables this package. It is enabled by default. If it is disabled, clients
// send requests and receive responses unchanged.
const FeatureGate = "ManagedFieldsOptOutClient"

// gateOverride is the value of the feature gate that SetEnabled has set: 1 if enabled, -1 if disabled, 0 if it has not been
// called.
var gateOverride atomic.Int32

// SetEnabled enables or disables the feature gate, overriding the environment, for requests that start after the call.
func SetEnabled(on bool) {
	if on {
		gateOverride.Store(1)
	} else {
		gateOverride.Store(-1)
	}
}

// Enabled reports whether the feature gate is enabled: by SetEnabled or, if that was not called, by the environment
// variable KUBE_FEATURE_ManagedFieldsOptOutClient. If the variable is not set or invalid, Enabled returns true.
func Enabled() bool {
	if s := gateOverride.Load(); s != 0 {
		return s > 0
	}
	on, err := strconv.ParseBool(os.Getenv("KUBE_FEATURE_" + FeatureGate))
	return err != nil || on
}

// WithoutManagedFields returns a copy of the config whose clients never receive managedFields.
func WithoutManagedFields(config *rest.Config) *rest.Config {
	return wrapConfig(config, func(context.Context) bool { return true })
}

// OptOutOnRequest returns a copy of the config. Its clients receive no managedFields in responses to requests whose
// context was returned by [OptOut], and to requests of a ListerWatcher that was returned by [OptOutListerWatcher].
func OptOutOnRequest(config *rest.Config) *rest.Config { return wrapConfig(config, isOptOut) }

// wrapConfig returns a copy of the config. Its clients receive no managedFields in responses to requests for which
// removes, called with the context of the request, returns true.
func wrapConfig(config *rest.Config, removes func(context.Context) bool) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, removes: removes} })
	return config
}

// optOutKey is the key of the context value that OptOut sets to true.
type optOutKey struct{}

// OptOut returns a context derived from ctx. Responses to requests with that context contain no managedFields. It has an
// effect only on clients of a config that [OptOutOnRequest] returned.
func OptOut(ctx context.Context) context.Context { return context.WithValue(ctx, optOutKey{}, true) }

// isOptOut reports whether the context was returned by OptOut, or derived from such a context.
func isOptOut(ctx context.Context) bool {
	drop, _ := ctx.Value(optOutKey{}).(bool)
	return drop
}
