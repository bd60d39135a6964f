package webhookclient

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
)

const (
	// maxClients is the maximum number of targets whose connections are kept open.
	maxClients = 200
	// defaultMaxResponse is the default of Options.MaxResponse. It is far more than a response about one object needs, because
	// objects are limited to 3 MiB.
	defaultMaxResponse = 16 << 20
)

// Options configure a Caller.
type Options struct {
	// Register are functions that add the types of the reviews, such as AdmissionReview, to a scheme.
	Register []func(*runtime.Scheme) error
	// Versions are the API versions in which reviews are encoded.
	Versions []schema.GroupVersion
	// MaxResponse is the maximum size of a response in bytes; 0 means 16 MiB.
	MaxResponse int64
}

// Caller calls webhooks and shares connections between calls. It is safe for concurrent use.
type Caller struct {
	maxResponse int64
	serializer  runtime.NegotiatedSerializer
	clients     *lru.Cache // maps Target.key to *client
}

// NewCaller returns a caller without open connections, or the error of a function in options.Register.
func NewCaller(options Options) (*Caller, error) {
	scheme := runtime.NewScheme()
	for _, register := range options.Register {
		if err := register(scheme); err != nil {
			return nil, err
		}
	}
	c := &Caller{maxResponse: options.MaxResponse, serializer: serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{
		Serializer: serializer.NewCodecFactory(scheme).LegacyCodec(options.Versions...),
	})}
	if c.maxResponse == 0 {
		c.maxResponse = defaultMaxResponse
	}
	c.clients = lru.NewWithEvictionFunc(maxClients, func(_ lru.Key, value any) { value.(*client).close() })
	return c, nil
}

// Call sends a review to a webhook and decodes the response into result. The deadline of the context limits the call. An error
// means that the call failed; a response that denies the request is not an error.
func (c *Caller) Call(ctx context.Context, target *Target, review, result runtime.Object) error {
	client, err := c.client(target)
	if err != nil {
		return err
	}
	request := client.rest.Post().Body(review)
	if deadline, ok := ctx.Deadline(); ok {
		if remaining := time.Until(deadline); remaining > 0 {
			request.Timeout(roundUpToSeconds(remaining))
		}
	}
	return request.Do(ctx).Into(result)
}

// Close closes the idle connections of all targets.
func (c *Caller) Close() { c.clients.Clear() }

// roundUpToSeconds rounds up the timeout that is sent to a webhook, which must be in whole seconds.
func roundUpToSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// client returns the HTTP client of target. It creates the client at the first call for the target. If two calls create one
// concurrently, further calls use the client that was stored last.
func (c *Caller) client(target *Target) (*client, error) {
	key := target.key()
	if existing, ok := c.clients.Get(key); ok {
		return existing.(*client), nil
	}
	created, err := newClient(target, rest.ClientContentConfig{
		ContentType: runtime.ContentTypeJSON,
		Negotiator:  runtime.NewClientNegotiator(c.serializer, schema.GroupVersion{}),
	}, c.maxResponse)
	if err != nil {
		return nil, err
	}
	c.clients.Add(key, created)
	return created, nil
}

// errTooLarge is the error for a response that exceeds MaxResponse.
var errTooLarge = errors.New("the response is too large")
