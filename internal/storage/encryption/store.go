package encryption

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/storage"
)

// Location returns the resource of a key, and the path of its value: the authenticated data.
type Location func(key string) (resource schema.GroupResource, path string)

// Items is the Location of keys such as apps/deployments/default/web. The path of a value is its key, so that values stay readable in
// backups and in restored stores.
func Items(key string) (resource schema.GroupResource, path string) {
	group, rest, _ := strings.Cut(key, "/")
	name, _, _ := strings.Cut(rest, "/")
	if group == "core" {
		group = ""
	}
	return schema.GroupResource{Group: group, Resource: name}, key
}

// Store is a storage.Store that encrypts the values of another store. The keys of items are not encrypted.
//
// A value that no key decrypts is returned with the error in Err of its item or event; only Get returns the error itself. When such
// values were read and the keys change, all watches end with storage.ErrCompacted, so that the watch cache lists the items again.
type Store struct {
	storage.Store // contains the encrypted values
	values        *Encryption
	locate        Location

	mu sync.Mutex
	// unreadable reports whether a value could not be decrypted since epoch began. epoch ends when all watches have to end.
	unreadable bool
	epoch      context.Context
	endEpoch   context.CancelFunc
}

// NewStore returns a Store with the values of s, whose keys locate understands. There is one Store for an Encryption.
func NewStore(s storage.Store, values *Encryption, locate Location) *Store {
	e := &Store{Store: s, values: values, locate: locate}
	e.epoch, e.endEpoch = context.WithCancel(context.Background())
	reloaded := e.endWatches
	values.reloaded.Store(&reloaded)
	return e
}

// endWatches ends all watches if a value could not be decrypted.
func (s *Store) endWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreadable {
		s.endEpoch()
		s.unreadable = false
		s.epoch, s.endEpoch = context.WithCancel(context.Background())
	}
}

// decrypt decrypts a value. If it cannot, it returns the stored bytes and the error.
func (s *Store) decrypt(key string, stored []byte) ([]byte, error) {
	resource, path := s.locate(key)
	plain, _, err := s.values.Decrypt(resource, path, stored)
	if err == nil {
		return plain, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreadable = true
	return stored, err
}

// Get implements storage.Store.
func (s *Store) Get(ctx context.Context, key string) (storage.Item, error) {
	item, err := s.Store.Get(ctx, key)
	if err == nil {
		item.Value, err = s.decrypt(item.Key, item.Value)
	}
	return item, err
}

// List implements storage.Store.
func (s *Store) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	page, err := s.Store.List(ctx, r)
	for i := range page.Items {
		item := &page.Items[i]
		item.Value, item.Err = s.decrypt(item.Key, item.Value)
	}
	return page, err
}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if !s.values.IsConfigured() {
		return s.Store.Commit(ctx, writes...)
	}
	encrypted := slices.Clone(writes)
	for i := range encrypted {
		w := &encrypted[i]
		if w.Value == nil {
			continue
		}
		var err error
		resource, path := s.locate(w.Key)
		if w.Value, err = s.values.Encrypt(resource, path, w.Value); err != nil {
			return 0, err
		}
	}
	return s.Store.Commit(ctx, encrypted...)
}

// IsStale reports whether the item with a key would be stored differently if it were written unchanged, because the first key of its
// resource is another one than that which has encrypted it.
func (s *Store) IsStale(ctx context.Context, key string) (bool, error) {
	if !s.values.IsConfigured() {
		return false, nil
	}
	item, err := s.Store.Get(ctx, key)
	if err != nil {
		return false, err
	}
	resource, path := s.locate(key)
	_, stale, err := s.values.Decrypt(resource, path, item.Value)
	return stale, err
}

// Watch implements storage.Store.
func (s *Store) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	w, err := s.Store.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	return &watcher{Watcher: w, store: s, epoch: epoch}, nil
}

// watcher decrypts the events of another watcher until epoch ends.
type watcher struct {
	storage.Watcher
	store *Store
	epoch context.Context
}

// Next implements storage.Watcher.
func (w *watcher) Next(ctx context.Context) (storage.Batch, error) {
	if !w.store.values.IsConfigured() { // the keys cannot change
		return w.decrypt(w.Watcher.Next(ctx))
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(w.epoch, stop)()
	batch, err := w.Watcher.Next(waiting)
	if w.epoch.Err() != nil && ctx.Err() == nil {
		return storage.Batch{}, storage.ErrCompacted
	}
	return w.decrypt(batch, err)
}

// decrypt decrypts the values of a batch. A previous value that cannot be decrypted stays encrypted.
func (w *watcher) decrypt(batch storage.Batch, err error) (storage.Batch, error) {
	for i := range batch.Events {
		e := &batch.Events[i]
		if e.Value != nil {
			e.Value, e.Err = w.store.decrypt(e.Key, e.Value)
		}
		if e.Previous != nil {
			e.Previous, _ = w.store.decrypt(e.Key, e.Previous)
		}
	}
	return batch, err
}

// Check returns a function that decrypts an item and then calls next with it. If there is no EncryptionConfiguration, encrypted items
// are counted in skipped, and next is not called.
func (e *Encryption) Check(next func(storage.Item) error, skipped *int) func(storage.Item) error {
	return func(item storage.Item) error {
		if !e.IsConfigured() && strings.HasPrefix(string(item.Value[:min(len(item.Value), len(Prefix))]), Prefix) {
			*skipped++
			return nil
		}
		resource, path := Items(item.Key)
		plain, _, err := e.Decrypt(resource, path, item.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", item.Key, err)
		}
		item.Value = plain
		return next(item)
	}
}

// Sealed is a store for backups of a store whose values are not encrypted, although they are where it keeps them: List encrypts them
// again, with the keys of items as paths.
type Sealed struct {
	storage.Store
	Values *Encryption
}

// List implements storage.Store. A value that cannot be read stays as it is stored.
func (s Sealed) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	page, err := s.Store.List(ctx, r)
	for i := range page.Items {
		item := &page.Items[i]
		if item.Err != nil {
			continue
		}
		resource, path := Items(item.Key)
		if item.Value, err = s.Values.Encrypt(resource, path, item.Value); err != nil {
			return storage.Page{}, err
		}
	}
	return page, err
}
