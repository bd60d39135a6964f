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
	// mostClients is how many targets keep their connections.
	mostClients = 200
	// defaultMaxAnswer is much more than an answer about one object needs: the largest object has 3 MiB.
	defaultMaxAnswer = 16 << 20
)

// Options say what a caller sends and receives.
type Options struct {
	// Register adds the kinds of the reviews to a scheme.
	Register []func(*runtime.Scheme) error
	// Versions are those of the reviews.
	Versions []schema.GroupVersion
	// MaxAnswer is how many bytes an answer may have; 0 means 16 MiB.
	MaxAnswer int64
}

// A Caller calls webhooks. Many may do so at once.
type Caller struct {
	maxAnswer  int64
	serializer runtime.NegotiatedSerializer
	clients    *lru.Cache // from a target's key to *client
}

// NewCaller returns a caller that has called nobody yet.
func NewCaller(options Options) (*Caller, error) {
	scheme := runtime.NewScheme()
	for _, register := range options.Register {
		if err := register(scheme); err != nil {
			return nil, err
		}
	}
	c := &Caller{maxAnswer: options.MaxAnswer, serializer: serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{
		Serializer: serializer.NewCodecFactory(scheme).LegacyCodec(options.Versions...),
	})}
	if c.maxAnswer == 0 {
		c.maxAnswer = defaultMaxAnswer
	}
	c.clients = lru.NewWithEvictionFunc(mostClients, func(_ lru.Key, value any) { value.(*client).close() })
	return c, nil
}

// Call sends a review to a webhook and reads its answer. It takes as long as the context allows. An error is what went
// wrong on the way; that the webhook says no is an answer.
func (c *Caller) Call(ctx context.Context, target *Target, review, answer runtime.Object) error {
	client, err := c.client(target)
	if err != nil {
		return err
	}
	request := client.rest.Post().Body(review)
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); left > 0 {
			request.Timeout(wholeSeconds(left))
		}
	}
	return request.Do(ctx).Into(answer)
}

// Close closes connections that nobody uses.
func (c *Caller) Close() { c.clients.Clear() }

// wholeSeconds is how long a webhook is told to take: no less than what there is.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// client returns the client for a target. Two that are made at once for the same target do no harm: the later one is kept.
func (c *Caller) client(target *Target) (*client, error) {
	key := target.key()
	if kept, ok := c.clients.Get(key); ok {
		return kept.(*client), nil
	}
	made, err := newClient(target, rest.ClientContentConfig{
		ContentType: runtime.ContentTypeJSON,
		Negotiator:  runtime.NewClientNegotiator(c.serializer, schema.GroupVersion{}),
	}, c.maxAnswer)
	if err != nil {
		return nil, err
	}
	c.clients.Add(key, made)
	return made, nil
}

// errTooLarge is for answers that nobody wants to keep in memory.
var errTooLarge = errors.New("the answer is too large")
