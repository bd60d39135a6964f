package client

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// FeatureGate is the name of the feature gate.
const FeatureGate = "ManagedFieldsOptOutClient"

// gateOverride is the value set by SetEnabled: 0 not set, 1 enabled, -1 disabled.
var gateOverride atomic.Int32

// SetEnabled sets the feature gate and overrides the environment. It applies to requests that start later.
func SetEnabled(on bool) {
	if on {
		gateOverride.Store(1)
	} else {
		gateOverride.Store(-1)
	}
}

// Enabled reports whether the feature gate is enabled.
func Enabled() bool {
	if s := gateOverride.Load(); s != 0 {
		return s > 0
	}
	on, err := strconv.ParseBool(os.Getenv("KUBE_FEATURE_" + FeatureGate))
	return err != nil || on
}

// WithoutManagedFields returns a copy of the config whose clients never receive managedFields.
func WithoutManagedFields(config *rest.Config) *rest.Config {
	return wrapped(config, func(context.Context) bool { return true })
}

// OptOutOnRequest returns a copy of the config whose clients receive no managedFields in responses to requests with a
// context of [OptOut], or from a ListerWatcher of [OptOutListerWatcher].
func OptOutOnRequest(config *rest.Config) *rest.Config { return wrapped(config, isOptOut) }

func wrapped(config *rest.Config, applies func(context.Context) bool) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, applies: applies} })
	return config
}

type dropKey struct{}

// OptOut returns a context for requests without managedFields. It has no effect unless the client was made with
// [OptOutOnRequest].
func OptOut(ctx context.Context) context.Context { return context.WithValue(ctx, dropKey{}, true) }

// isOptOut reports whether the context is from OptOut.
func isOptOut(ctx context.Context) bool {
	drop, _ := ctx.Value(dropKey{}).(bool)
	return drop
}
