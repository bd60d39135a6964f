package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/cadastre/cadastre/internal/storage"
)

// Store is a store in an etcd cluster. It implements storage.Store and is safe for concurrent use.
type Store struct {
	options Options
	// prefix is the prefix of the keys in etcd, with a slash at its end.
	prefix string
	client *clientv3.Client
	leases leases
	reads  revisionReads
	// failure is the cause of the last failed probe; nil if the last probe succeeded.
	failure atomic.Pointer[error]
	// latest is the newest revision that the store has returned to a caller.
	latest atomic.Int64

	mu sync.Mutex
	// closed is set when Close begins; later operations return ErrClosed.
	closed   bool
	watchers map[*watcher]struct{}
	// lagging receives a value when a watcher may have to request progress.
	lagging chan struct{}

	// ctx ends when the store is closed; cancel ends it. operations counts the reads and commits in progress, running the
	// goroutines of the store.
	ctx        context.Context
	cancel     context.CancelFunc
	operations sync.WaitGroup
	running    sync.WaitGroup
}

const (
	// dialTimeout, keepaliveTime and keepaliveTimeout are those of kube-apiserver.
	dialTimeout      = 20 * time.Second
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
	// maxRetries is the number of times that the client repeats a read at another member, with pauses of 25 ms. It does not repeat
	// transactions that were sent.
	maxRetries = 40
	// openTimeout is the maximum time that Open waits for etcd's first response.
	openTimeout = 30 * time.Second
	// connectPause is the time between two attempts of Open.
	connectPause = 200 * time.Millisecond
	// closeTimeout is the maximum time that Close waits for the operations in progress before it ends them.
	closeTimeout = 5 * time.Second
)

// Open connects to a cluster. It returns an error if the cluster does not respond.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	tlsConfig, err := o.tls()
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, prefix: o.Prefix, watchers: map[*watcher]struct{}{}, lagging: make(chan struct{}, 1)}
	s.client, err = clientv3.New(clientv3.Config{
		Endpoints: o.Endpoints, TLS: tlsConfig, Username: o.Username, Password: o.Password,
		DialTimeout: dialTimeout, DialKeepAliveTime: keepaliveTime, DialKeepAliveTimeout: keepaliveTimeout,
		DialOptions:     []grpc.DialOption{grpc.WithStatsHandler(sentRecorder{})},
		MaxUnaryRetries: maxRetries,
		Logger:          zap.NewNop(), // failures are returned, and logged by the probe
	})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd at %s: %w", strings.Join(o.Endpoints, ", "), err)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.leases.grant = s.grantLease
	if err := s.connect(ctx); err != nil {
		s.cancel()
		_ = s.client.Close() // the first error is reported
		return nil, fmt.Errorf("connect to etcd at %s: %w", strings.Join(o.Endpoints, ", "), err)
	}
	s.running.Go(s.runProbe)
	s.running.Go(s.runProgress)
	if o.CompactionInterval > 0 {
		s.running.Go(s.runCompaction)
	}
	return s, nil
}

// connect waits until etcd responds. It returns an error if etcd does not respond within openTimeout, or rejects the client.
func (s *Store) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		_, err := s.readRevision(ctx)
		if unavailable := (*storage.UnavailableError)(nil); !errors.As(err, &unavailable) {
			return err
		}
		select {
		case <-time.After(connectPause):
		case <-ctx.Done():
			return err
		}
	}
}

// IsShared implements storage.Store.
func (s *Store) IsShared() bool { return true }

// Close implements storage.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	wasClosed := s.closed
	s.closed = true
	s.mu.Unlock()
	if wasClosed {
		return storage.ErrClosed
	}
	timeout := time.AfterFunc(closeTimeout, s.cancel)
	s.operations.Wait()
	timeout.Stop()
	s.cancel()
	s.running.Wait()
	return s.client.Close()
}

// begin starts an operation. The returned context ends with ctx, or when the store is closed. The caller calls end.
func (s *Store) begin(ctx context.Context) (operation context.Context, end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, storage.ErrClosed
	}
	s.operations.Add(1)
	operation, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return operation, func() {
		stop()
		cancel()
		s.operations.Done()
	}, nil
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// key returns the key in etcd of the item with the given key.
func (s *Store) key(key string) string { return s.prefix + key }

// itemKey returns the key of the item that is stored in etcd at key.
func (s *Store) itemKey(key []byte) string { return string(key[len(s.prefix):]) }
