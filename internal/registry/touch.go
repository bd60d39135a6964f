package registry

import (
	"context"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Touch writes a change by the server itself, for instance by a controller, to a stored object, without admission and
// validation. manager is the field manager of the change. If the object is no longer at the revision of live, it returns a
// *storage.ConflictError. The result is nil if the change completed the deletion of the object.
func (r *Registry) Touch(ctx context.Context, e *Endpoint, live *watchcache.Object, manager string, change func(document.Value) document.Value) (*watchcache.Object, error) {
	return r.touch(e, live, manager, change, func(w storage.Write) (*watchcache.Object, error) {
		written, _, err := r.commit(ctx, w)
		if err != nil {
			return nil, err
		}
		return written[0], nil
	})
}

// touch implements Touch with the function commit, which it calls unless change returns an equal object.
func (r *Registry) touch(e *Endpoint, live *watchcache.Object, manager string, change func(document.Value) document.Value, commit func(storage.Write) (*watchcache.Object, error)) (*watchcache.Object, error) {
	before, err := r.parsed(live)
	if err != nil {
		return nil, StoreError(err)
	}
	doc := change(before.Document)
	if document.Equal(doc, before.Document) {
		return live, nil
	}
	result, err := e.engine.Update(before, doc, apply.Request{
		Manager: manager, Subresource: e.Subresource, Version: e.objectVersion, Time: r.Now(), Empty: e.empty,
	})
	if err != nil {
		return nil, err
	}
	write := storage.Write{Key: live.Key(), Expected: live.Revision()}
	if !isDeletionComplete(e.Kind, doc) {
		write.Value = encodeJSON(result.Object)
	}
	return commit(write)
}

// Parsed returns a stored object split into its document and its managed fields entries. Entries that cannot be decoded are
// dropped.
func (r *Registry) Parsed(live *watchcache.Object) (apply.Object, error) {
	parsed, err := r.parsed(live)
	if err != nil {
		return parsed, StoreError(err)
	}
	return parsed, nil
}

// ReplaceEntries replaces only the managed fields entries of a stored object. parsed is the result of Parsed for live. If the
// object is no longer at the revision of live, it returns a *storage.ConflictError.
func (r *Registry) ReplaceEntries(ctx context.Context, live *watchcache.Object, parsed apply.Object, entries []apply.Entry) error {
	parsed.Entries = entries
	_, _, err := r.commit(ctx, storage.Write{Key: live.Key(), Expected: live.Revision(), Value: encodeJSON(parsed)})
	return err
}
