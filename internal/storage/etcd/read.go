package etcd

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cadastre/cadastre/internal/storage"
)

// maxPage is the maximum number of items in a page of a list with a limit. It bounds the memory of a response, which etcd assembles
// before it sends it.
const maxPage = 1000

// Get implements storage.Store.
func (s *Store) Get(ctx context.Context, key string) (storage.Item, error) {
	operation, end, err := s.begin(ctx)
	if err != nil {
		return storage.Item{}, err
	}
	defer end()
	response, err := s.client.Get(operation, s.key(key))
	if err != nil {
		return storage.Item{}, s.readError(ctx, err)
	}
	s.observe(storage.Revision(response.Header.Revision))
	if len(response.Kvs) == 0 {
		return storage.Item{}, storage.ErrNotFound
	}
	return s.item(response.Kvs[0]), nil
}

// List implements storage.Store.
func (s *Store) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	operation, end, err := s.begin(ctx)
	if err != nil {
		return storage.Page{}, err
	}
	defer end()
	start, limitKey := s.key(r.Prefix), clientv3.GetPrefixRangeEnd(s.key(r.Prefix))
	if r.After != "" {
		start = max(start, s.key(r.After)+"\x00")
	}
	response, err := s.client.Get(operation, start, clientv3.WithRange(limitKey), clientv3.WithLimit(int64(min(r.Limit, maxPage))), clientv3.WithRev(int64(r.Revision)))
	if err != nil {
		return storage.Page{}, s.readError(ctx, err)
	}
	s.observe(storage.Revision(response.Header.Revision))
	page := storage.Page{Items: make([]storage.Item, len(response.Kvs)), Revision: r.Revision, More: response.More}
	if page.Revision == 0 {
		page.Revision = storage.Revision(response.Header.Revision)
	}
	for i, kv := range response.Kvs {
		page.Items[i] = s.item(kv)
	}
	return page, nil
}

// item returns the item that kv contains.
func (s *Store) item(kv *mvccpb.KeyValue) storage.Item {
	return storage.Item{Key: s.itemKey(kv.Key), Value: valueOf(kv), Revision: storage.Revision(kv.ModRevision)}
}

// valueOf returns the value of kv, which is not nil even if it is empty.
func valueOf(kv *mvccpb.KeyValue) []byte {
	if kv.Value == nil {
		return []byte{}
	}
	return kv.Value
}

// revisionReads combines concurrent calls of Revision.
type revisionReads struct {
	mu sync.Mutex
	// waiting is the request that has not been sent yet; nil if no caller is waiting for one. isRunning reports whether a goroutine
	// sends requests.
	waiting   *revisionRead
	isRunning bool
}

// revisionRead is a request for the revision that several callers share. The results are valid after done is closed.
type revisionRead struct {
	done     chan struct{}
	revision storage.Revision
	err      error
}

// revisionTimeout is the maximum duration of a request for the revision.
const revisionTimeout = 10 * time.Second

// Revision implements storage.Store. Concurrent calls share requests: one request is in progress at a time, and all calls that begin
// meanwhile share the next one.
func (s *Store) Revision(ctx context.Context) (storage.Revision, error) {
	_, end, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := s.Failure(); err != nil {
		return 0, &storage.UnavailableError{Err: err}
	}
	s.reads.mu.Lock()
	shared := s.reads.waiting
	if shared == nil {
		shared = &revisionRead{done: make(chan struct{})}
		s.reads.waiting = shared
	}
	if !s.reads.isRunning {
		s.reads.isRunning = true
		s.operations.Add(1)
		go s.sendRevisionReads()
	}
	s.reads.mu.Unlock()
	select {
	case <-shared.done:
		return shared.revision, shared.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// sendRevisionReads sends requests for the revision until no caller is waiting.
func (s *Store) sendRevisionReads() {
	defer s.operations.Done()
	for {
		s.reads.mu.Lock()
		shared := s.reads.waiting
		s.reads.waiting = nil
		s.reads.isRunning = shared != nil
		s.reads.mu.Unlock()
		if shared == nil {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, revisionTimeout)
		shared.revision, shared.err = s.readRevision(ctx)
		cancel()
		close(shared.done)
	}
}

// readRevision returns the revision of the cluster, from the header of a linearizable read.
func (s *Store) readRevision(ctx context.Context) (storage.Revision, error) {
	response, err := s.client.Get(ctx, s.key("health"), clientv3.WithKeysOnly())
	if err != nil {
		return 0, s.unavailable(err)
	}
	revision := storage.Revision(response.Header.Revision)
	s.observe(revision)
	return revision, nil
}
