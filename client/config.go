package client

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Gate is the name of the feature.
const Gate = "ManagedFieldsOptOutClient"

// switched is what SetEnabled said: 0 nothing, 1 on, -1 off.
var switched atomic.Int32

// SetEnabled switches the gate, whatever the environment says. It counts for requests that begin later.
func SetEnabled(on bool) {
	if on {
		switched.Store(1)
	} else {
		switched.Store(-1)
	}
}

// Enabled reports whether the gate is on.
func Enabled() bool {
	if s := switched.Load(); s != 0 {
		return s > 0
	}
	on, err := strconv.ParseBool(os.Getenv("KUBE_FEATURE_" + Gate))
	return err != nil || on
}

// WithoutManagedFields returns a config whose clients never see managedFields. The config itself stays as it is.
func WithoutManagedFields(config *rest.Config) *rest.Config {
	return wrapped(config, func(context.Context) bool { return true })
}

// OnRequest returns a config whose clients see no managedFields in answers to requests whose context says
// so: see Drop and Informer.
func OnRequest(config *rest.Config) *rest.Config { return wrapped(config, saysDrop) }

func wrapped(config *rest.Config, applies func(context.Context) bool) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, applies: applies} })
	return config
}

type dropKey struct{}

// Drop returns a context whose requests do without managedFields, if their client was made with OnRequest.
func Drop(ctx context.Context) context.Context { return context.WithValue(ctx, dropKey{}, true) }

// saysDrop reports whether Drop made the context.
func saysDrop(ctx context.Context) bool {
	drop, _ := ctx.Value(dropKey{}).(bool)
	return drop
}
