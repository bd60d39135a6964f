package registry

import (
	"context"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Touch writes a change of the server itself to a stored object, as a field manager, without admission and validation. If
// the object has changed meanwhile, it returns a *storage.ConflictError. The result is nil if the change completed the
// deletion of the object.
func (r *Registry) Touch(ctx context.Context, e *Endpoint, live *watchcache.Object, manager string, change func(document.Value) document.Value) (*watchcache.Object, error) {
	return r.touch(e, live, manager, change, func(w storage.Write) (*watchcache.Object, error) {
		written, _, err := r.commit(ctx, w)
		if err != nil {
			return nil, err
		}
		return written[0], nil
	})
}

// touch is Touch with a function that commits the write.
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

// Parsed returns a stored object as the apply engine takes it.
func (r *Registry) Parsed(live *watchcache.Object) (apply.Object, error) {
	parsed, err := r.parsed(live)
	if err != nil {
		return parsed, StoreError(err)
	}
	return parsed, nil
}

// Reown replaces only the managed fields entries of a stored object. parsed is the object of live. If the object has changed
// meanwhile, it returns a *storage.ConflictError.
func (r *Registry) Reown(ctx context.Context, live *watchcache.Object, parsed apply.Object, entries []apply.Entry) error {
	parsed.Entries = entries
	_, _, err := r.commit(ctx, storage.Write{Key: live.Key(), Expected: live.Revision(), Value: encodeJSON(parsed)})
	return err
}
