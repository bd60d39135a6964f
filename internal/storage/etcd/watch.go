package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/cadastre/cadastre/internal/storage"
)

// watcher implements storage.Watcher with a watch of etcd.
type watcher struct {
	store     *Store
	responses clientv3.WatchChan
	// ctx ends when the watcher is closed. Its metadata select the gRPC stream, which progress requests use, too.
	ctx    context.Context
	cancel context.CancelFunc
	// reached is the revision up to which Next has returned all events. isWaiting reports whether a call of Next is waiting for a
	// response: only then the watcher may have to request progress.
	reached   atomic.Int64
	isWaiting atomic.Bool
	// err is the error that ended the watch; nil while it continues.
	err error
}

// The gRPC streams of watches. etcd reports progress for a stream only when all its watches have received the events of the past, so
// watches of everything, which are the watch caches', do not share a stream with watches of the past.
const (
	streamKey     = "cadastre-stream"
	streamCurrent = "current"
	streamHistory = "history"
)

// Watch implements storage.Store.
func (s *Store) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	_, end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	stream := streamHistory
	if prefix == "" {
		stream = streamCurrent
	}
	w := &watcher{store: s}
	w.ctx, w.cancel = context.WithCancel(s.ctx)
	w.ctx = clientv3.WithRequireLeader(metadata.AppendToOutgoingContext(w.ctx, streamKey, stream))
	w.reached.Store(int64(after))
	stop := context.AfterFunc(ctx, w.cancel) // the client blocks until etcd has created the watch
	w.responses = s.client.Watch(w.ctx, s.key(prefix), clientv3.WithPrefix(), clientv3.WithRev(int64(after)+1),
		clientv3.WithPrevKV(), clientv3.WithProgressNotify())
	if !stop() {
		return nil, ctx.Err()
	}
	s.addWatcher(w)
	return w, nil
}

// Close implements storage.Watcher.
func (w *watcher) Close() {
	w.store.removeWatcher(w)
	w.cancel()
}

// Next implements storage.Watcher.
func (w *watcher) Next(ctx context.Context) (storage.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return storage.Batch{}, err
		}
		if w.err != nil {
			return storage.Batch{}, w.err
		}
		response, ok, ended := w.wait(ctx)
		if ended {
			continue
		}
		batch, hasProgress := w.receive(response, ok)
		if w.err == nil && hasProgress {
			w.reached.Store(int64(batch.Revision))
			return batch, nil
		}
	}
}

// wait returns the next response; ok is false if the watch has ended. ended is true if ctx has ended.
func (w *watcher) wait(ctx context.Context) (response clientv3.WatchResponse, ok, ended bool) {
	select {
	case response, ok = <-w.responses:
		return response, ok, false
	default:
	}
	w.isWaiting.Store(true)
	defer w.isWaiting.Store(false)
	if w.reached.Load() < w.store.latest.Load() {
		w.store.wakeProgress()
	}
	select {
	case response, ok = <-w.responses:
		return response, ok, false
	case <-ctx.Done():
		return response, false, true
	}
}

// receive converts a response into a batch. ok is false if the watch has ended. hasProgress is false for a response without new
// events or progress. If the watch has ended or failed, receive sets w.err.
func (w *watcher) receive(response clientv3.WatchResponse, ok bool) (batch storage.Batch, hasProgress bool) {
	reached := storage.Revision(w.reached.Load())
	switch {
	case w.store.isClosed():
		w.err = storage.ErrClosed
	case !ok:
		w.err = errors.New("etcd: the watch has ended")
	case response.CompactRevision > 0:
		w.err = storage.ErrCompacted
	case response.Err() != nil:
		w.err = fmt.Errorf("etcd: the watch has ended: %w", response.Err())
	case response.IsProgressNotify():
		batch.Revision = storage.Revision(response.Header.Revision)
		return batch, batch.Revision > reached
	case len(response.Events) > 0:
		batch.Events, w.err = w.store.events(response.Events)
		// The header's revision is that of the store, which may be beyond the events.
		batch.Revision = storage.Revision(response.Events[len(response.Events)-1].Kv.ModRevision)
		return batch, true
	}
	return batch, false
}

// events converts the events of a watch response. It returns ErrCompacted if the previous value of an item was compacted.
func (s *Store) events(received []*clientv3.Event) ([]storage.Event, error) {
	events := make([]storage.Event, len(received))
	for i, e := range received {
		event := storage.Event{Key: s.itemKey(e.Kv.Key), Revision: storage.Revision(e.Kv.ModRevision)}
		if e.Type == clientv3.EventTypePut {
			event.Value = valueOf(e.Kv)
		}
		switch {
		case e.PrevKv != nil:
			event.Previous, event.PreviousRevision = valueOf(e.PrevKv), storage.Revision(e.PrevKv.ModRevision)
		case !e.IsCreate():
			return nil, storage.ErrCompacted
		}
		events[i] = event
	}
	return events, nil
}
