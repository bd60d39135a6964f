package pebble

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cadastre/cadastre/internal/storage"
)

// restoreBatchBytes is the approximate size, in bytes, of the batches in which Restore writes items.
const restoreBatchBytes = 4 << 20

// Restore creates a store in o.Folder, which must not exist or be empty, with the items that fill adds, at their revisions. The
// revision of the store is revision, which must be at least that of every item; the history before it is compacted. Restore creates
// the store in a temporary folder and renames it to o.Folder: if it returns an error, there is no store in o.Folder.
func Restore(o Options, revision storage.Revision, fill func(add func(storage.Item) error) error) error {
	o = o.withDefaults()
	fs, folder := o.FileSystem, o.Folder
	if files, err := fs.List(folder); err == nil && len(files) > 0 {
		return fmt.Errorf("%s: expected no folder or an empty one, found %d files; move the folder away, or choose another data directory", folder, len(files))
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := fs.MkdirAll(fs.PathDir(folder), 0o700); err != nil {
		return err
	}
	o.Folder = folder + ".restoring"
	if err := fs.RemoveAll(o.Folder); err != nil { // of an interrupted Restore
		return err
	}
	if err := restoreInto(o, revision, fill); err != nil {
		return errors.Join(err, fs.RemoveAll(o.Folder))
	}
	if err := fs.RemoveAll(folder); err != nil {
		return err
	}
	if err := fs.Rename(o.Folder, folder); err != nil {
		return err
	}
	return syncDir(fs, fs.PathDir(folder))
}

// restoreInto creates the store in o.Folder and closes it.
func restoreInto(o Options, revision storage.Revision, fill func(add func(storage.Item) error) error) error {
	s, err := Open(o)
	if err != nil {
		return err
	}
	r := restorer{batch: s.db.NewBatch(), s: s, revision: revision}
	err = fill(r.add)
	if err == nil {
		err = r.finish()
	}
	return errors.Join(err, r.batch.Close(), s.Close())
}

// restorer writes the items of a restored store in batches.
type restorer struct {
	s        *Store
	batch    *pebble.Batch
	revision storage.Revision
}

func (r *restorer) add(item storage.Item) error {
	if err := storage.CheckCommit([]storage.Write{{Key: item.Key, Value: item.Value}}); err != nil {
		return err
	}
	if item.Revision <= 0 || item.Revision > r.revision {
		return fmt.Errorf("%s: expected a revision from 1 to %d, received %d", item.Key, r.revision, item.Revision)
	}
	event := storage.Event{Key: item.Key, Value: item.Value}
	if err := setVersion(r.batch, appendVersion(nil, item.Key, item.Revision), event); err != nil {
		return err
	}
	if r.batch.Len() < restoreBatchBytes {
		return nil
	}
	return r.apply()
}

// apply writes the batch and starts a new batch.
func (r *restorer) apply() error {
	err := errors.Join(r.s.db.Apply(r.batch, pebble.NoSync), r.batch.Close())
	r.batch = r.s.db.NewBatch()
	return err
}

// finish writes the remaining items and the compacted revision, which is the revision of the store.
func (r *restorer) finish() error {
	if err := r.batch.Set(compactedRecord, strconv.AppendInt(nil, int64(r.revision), 10), nil); err != nil {
		return err
	}
	if err := r.apply(); err != nil {
		return err
	}
	if err := r.s.db.Flush(); err != nil {
		return err
	}
	return r.s.writeCheckpoint(int64(r.revision))
}
