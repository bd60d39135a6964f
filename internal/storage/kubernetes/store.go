package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/cadastre/cadastre/internal/storage"
)

// Codec translates values. Its methods are safe for concurrent use, and do not modify or retain their arguments unless they return
// them.
type Codec interface {
	// Decode returns the canonical JSON, at the storage version, of the object that is stored as stored. key is the key of the item. If
	// stored is that JSON already, Decode returns stored itself.
	Decode(key string, stored []byte) ([]byte, error)
	// Encode returns the form in which the object with the given key and canonical JSON is stored.
	Encode(key string, value []byte) ([]byte, error)
}

// Options configure a store. Store, Layout and Codec are required.
type Options struct {
	// Store is the wrapped store. Close closes it.
	Store  storage.Store
	Layout Layout
	Codec  Codec
	// Log is the logger for values that cannot be decoded; nil means slog.Default.
	Log *slog.Logger
}

// Store implements storage.Store. Methods that it does not declare are those of the wrapped store.
type Store struct {
	storage.Store
	layout Layout
	codec  Codec
	log    *slog.Logger
	own    ownValues
}

// New returns a store that wraps o.Store.
func New(o Options) *Store {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Store{Store: o.Store, layout: o.Layout, codec: o.Codec, log: o.Log}
}

// Get implements storage.Store.
func (s *Store) Get(ctx context.Context, key string) (storage.Item, error) {
	stored, err := s.layout.Stored(key)
	if err != nil {
		return storage.Item{}, err
	}
	item, err := s.Store.Get(ctx, stored)
	if err != nil {
		return storage.Item{}, err
	}
	item.Key, item.Value = key, s.decode(key, item.Value)
	return item, nil
}

// List implements storage.Store. The prefix of r is "" or contains at least GROUP/RESOURCE/.
func (s *Store) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	var err error
	if r.Prefix, err = s.layout.Stored(r.Prefix); err != nil {
		return storage.Page{}, err
	}
	if r.After, err = s.layout.Stored(r.After); err != nil {
		return storage.Page{}, err
	}
	for {
		page, err := s.Store.List(ctx, r)
		if err != nil {
			return storage.Page{}, err
		}
		if len(page.Items) > 0 {
			r.After = page.Items[len(page.Items)-1].Key
		}
		items := page.Items[:0]
		for _, item := range page.Items {
			key, ok := s.layout.Item(item.Key)
			if !ok {
				continue
			}
			item.Key, item.Value = key, s.decode(key, item.Value)
			items = append(items, item)
		}
		// The caller continues after the last item, so a page that is not the last must have one.
		if page.Items = items; len(items) > 0 || !page.More {
			return page, nil
		}
		r.Revision = page.Revision
	}
}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	stored := make([]storage.Write, len(writes))
	for i, w := range writes {
		key, err := s.layout.Stored(w.Key)
		if err != nil {
			return 0, err
		}
		stored[i] = w
		stored[i].Key = key
		if w.Value == nil {
			continue
		}
		if stored[i].Value, err = s.codec.Encode(w.Key, w.Value); err != nil {
			return 0, err
		}
		s.own.add(w.Key, ownValue{stored: stored[i].Value, value: w.Value})
	}
	revision, err := s.Store.Commit(ctx, stored...)
	if err != nil {
		s.own.drop(writes)
	}
	if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
		if key, ok := s.layout.Item(conflict.Key); ok {
			return 0, &storage.ConflictError{Key: key, Expected: conflict.Expected, Found: conflict.Found}
		}
	}
	return revision, err
}

// IsStale implements storage.StaleChecker with the wrapped store, which may encrypt values.
func (s *Store) IsStale(ctx context.Context, key string) (bool, error) {
	checker, ok := s.Store.(storage.StaleChecker)
	if !ok {
		return false, nil
	}
	stored, err := s.layout.Stored(key)
	if err != nil {
		return false, err
	}
	return checker.IsStale(ctx, stored)
}

// Watch implements storage.Store. The prefix is "" or contains at least GROUP/RESOURCE/.
func (s *Store) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	stored, err := s.layout.Stored(prefix)
	if err != nil {
		return nil, err
	}
	w, err := s.Store.Watch(ctx, stored, after)
	if err != nil {
		return nil, err
	}
	return &watcher{Watcher: w, store: s}, nil
}

// watcher translates the events of the wrapped store's watcher.
type watcher struct {
	storage.Watcher
	store *Store
}

// Next implements storage.Watcher.
func (w *watcher) Next(ctx context.Context) (storage.Batch, error) {
	batch, err := w.Watcher.Next(ctx)
	if err != nil {
		return batch, err
	}
	events := batch.Events[:0]
	for _, e := range batch.Events {
		key, ok := w.store.layout.Item(e.Key)
		if !ok {
			continue
		}
		e.Key = key
		e.Value = w.store.decodeEvent(key, e.Value)
		e.Previous = w.store.decode(key, e.Previous)
		events = append(events, e)
	}
	batch.Events = events
	return batch, nil
}

// decode returns the decoded value, or the value itself if it cannot be decoded, or nil if it is nil.
func (s *Store) decode(key string, stored []byte) []byte {
	if stored == nil {
		return nil
	}
	value, err := s.codec.Decode(key, stored)
	if err != nil {
		s.log.Error("storage: the store contains a value that cannot be decoded", "key", key, "error", err)
		return stored
	}
	return value
}

// decodeEvent is decode for the new value of an event. If the value is that of a commit of this process, decodeEvent returns the slice
// that was committed, by which the watch cache recognises its commits.
func (s *Store) decodeEvent(key string, stored []byte) []byte {
	if own, ok := s.own.take(key); ok && bytes.Equal(own.stored, stored) {
		return own.value
	}
	return s.decode(key, stored)
}

// ownValues are the values of the commits in progress, and of those whose events no watcher has received yet. It is an optimization,
// so it holds at most maxOwnValues.
type ownValues struct {
	mu     sync.Mutex
	values map[string]ownValue
}

// ownValue is the value of a commit, and its stored form.
type ownValue struct{ stored, value []byte }

const maxOwnValues = 1024

func (o *ownValues) add(key string, v ownValue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.values == nil || len(o.values) >= maxOwnValues {
		o.values = map[string]ownValue{}
	}
	o.values[key] = v
}

// take removes and returns the value that was committed last with the given key.
func (o *ownValues) take(key string) (ownValue, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v, ok := o.values[key]
	delete(o.values, key)
	return v, ok
}

// drop removes the values of a commit that failed.
func (o *ownValues) drop(writes []storage.Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range writes {
		delete(o.values, w.Key)
	}
}
