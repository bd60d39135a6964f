package etcd

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// sentKey is the key of a context value of the type *atomic.Bool, which a sentRecorder sets when a request is written to a
// connection.
type sentKey struct{}

// withSent returns a context for a request. sent becomes true when the request is written to a connection: until then, etcd cannot
// have applied it.
func withSent(ctx context.Context) (request context.Context, sent *atomic.Bool) {
	sent = new(atomic.Bool)
	return context.WithValue(ctx, sentKey{}, sent), sent
}

// sentRecorder is the gRPC stats handler that sets the value of sentKey.
type sentRecorder struct{}

func (sentRecorder) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (sentRecorder) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, isPayload := s.(*stats.OutPayload); !isPayload {
		return
	}
	if sent, ok := ctx.Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
}

func (sentRecorder) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (sentRecorder) HandleConn(context.Context, stats.ConnStats) {}
