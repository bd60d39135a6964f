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

// switched is what SetEnabled said: 0 nothing, 1 on, -1 off.
var switched atomic.Int32

// SetEnabled sets the feature gate and overrides the environment. It applies to requests that start later.
func SetEnabled(on bool) {
	if on {
		switched.Store(1)
	} else {
		switched.Store(-1)
	}
}

// Enabled reports whether the feature gate is enabled.
func Enabled() bool {
	if s := switched.Load(); s != 0 {
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
func OptOutOnRequest(config *rest.Config) *rest.Config { return wrapped(config, saysDrop) }

func wrapped(config *rest.Config, applies func(context.Context) bool) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, applies: applies} })
	return config
}

type dropKey struct{}

// OptOut returns a context whose requests get no managedFields, if their client was made with [OptOutOnRequest].
func OptOut(ctx context.Context) context.Context { return context.WithValue(ctx, dropKey{}, true) }

// saysDrop reports whether OptOut made the context.
func saysDrop(ctx context.Context) bool {
	drop, _ := ctx.Value(dropKey{}).(bool)
	return drop
}
