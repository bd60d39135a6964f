package pebble

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cadastre/cadastre/internal/storage"
)

// Get implements storage.Store.
func (s *Store) Get(ctx context.Context, key string) (storage.Item, error) {
	if err := errors.Join(ctx.Err(), s.closedError()); err != nil {
		return storage.Item{}, err
	}
	return s.itemAt(key, storage.Revision(s.acked.Load()))
}

// itemAt returns the version of the item with the given key at revision; storage.ErrNotFound if the item did not exist at
// that revision.
func (s *Store) itemAt(key string, revision storage.Revision) (item storage.Item, err error) {
	if key == "" || strings.IndexByte(key, 0) >= 0 {
		return storage.Item{}, storage.ErrNotFound
	}
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: appendVersion(nil, key, revision), UpperBound: appendItemEnd(nil, key)})
	if err != nil {
		return storage.Item{}, err
	}
	defer func() { err = readError(errors.Join(err, iter.Close())) }()
	if !iter.First() {
		return storage.Item{}, errors.Join(iter.Error(), storage.ErrNotFound)
	}
	value, err := iter.ValueAndErr()
	if err != nil {
		return storage.Item{}, err
	}
	if value[0] == flagDeleted {
		return storage.Item{}, storage.ErrNotFound
	}
	_, written := splitVersion(iter.Key())
	return storage.Item{Key: key, Value: append([]byte{}, value[1:]...), Revision: written}, nil
}

// List implements storage.Store.
func (s *Store) List(ctx context.Context, r storage.Range) (page storage.Page, err error) {
	if err := errors.Join(ctx.Err(), s.closedError()); err != nil {
		return storage.Page{}, err
	}
	acked := storage.Revision(s.acked.Load())
	switch {
	case r.Revision == 0:
		r.Revision = acked
	case r.Revision > acked:
		return storage.Page{}, storage.ErrFuture
	}
	lower, upper := prefixBounds(r.Prefix)
	if r.After >= r.Prefix && r.After != "" {
		lower = appendItemEnd(nil, r.After)
	}
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return storage.Page{}, err
	}
	defer func() { err = readError(errors.Join(err, iter.Close())) }()
	// compacted is read after the iterator was created: a revision that is not compacted now was not compacted when the
	// iterator was created.
	if r.Revision < storage.Revision(s.compacted.Load()) {
		return storage.Page{}, storage.ErrCompacted
	}
	l := lister{iter: iter, r: r, page: storage.Page{Revision: r.Revision}}
	err = l.list(ctx)
	return l.page, err
}

// lister scans the records of item versions and selects, for each item, the version at the revision of the list.
type lister struct {
	iter *pebble.Iterator
	r    storage.Range
	page storage.Page
	key  []byte // the key of the item that the iterator points to
}

func (l *lister) list(ctx context.Context) error {
	for valid := l.iter.First(); valid; valid = l.nextItem() {
		if len(l.page.Items)%256 == 255 && ctx.Err() != nil {
			return ctx.Err()
		}
		item, found, err := l.item()
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if l.r.Limit > 0 && len(l.page.Items) == l.r.Limit {
			l.page.More = true
			return nil
		}
		l.page.Items = append(l.page.Items, item)
	}
	return l.iter.Error()
}

// item returns the version of the current item at the revision of the list; found is false if the item did not exist at
// that revision. The result does not share memory with other items, so a caller that retains one item keeps only that item
// alive.
func (l *lister) item() (item storage.Item, found bool, err error) {
	key, revision := splitVersion(l.iter.Key())
	l.key = append(l.key[:0], key...)
	for revision > l.r.Revision {
		if !l.iter.Next() {
			return storage.Item{}, false, l.iter.Error()
		}
		if key, revision = splitVersion(l.iter.Key()); !bytes.Equal(key, l.key) {
			l.iter.Prev() // so that nextItem continues from the last version of this item
			return storage.Item{}, false, nil
		}
	}
	value, err := l.iter.ValueAndErr()
	if err != nil || value[0] == flagDeleted {
		return storage.Item{}, false, err
	}
	return storage.Item{Key: string(l.key), Value: append([]byte{}, value[1:]...), Revision: revision}, true, nil
}

// nextItem moves the iterator to the newest version of the next item; it returns false if there is none.
func (l *lister) nextItem() bool {
	if !l.iter.Valid() {
		return false
	}
	const near = 4 // at most this number of steps is cheaper than a seek
	for range near {
		if !l.iter.Next() {
			return false
		}
		if key, _ := splitVersion(l.iter.Key()); !bytes.Equal(key, l.key) {
			return true
		}
	}
	return l.iter.SeekGE(appendItemEnd(nil, string(l.key)))
}
