package objects

import (
	"context"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// Touch writes what the server itself has to say about an object that is there, at an endpoint, and notes that a
// manager did it. Nobody looks whether it is right: the server knows. Somebody else's write is an error. The
// result is nil if the object is gone, since it has nothing left to wait for.
func (o *Objects) Touch(ctx context.Context, e *Endpoint, live *cache.Object, manager string, change func(document.Value) document.Value) (*cache.Object, error) {
	before, err := o.parsed(live)
	if err != nil {
		return nil, StoreError(err)
	}
	doc := change(before.Document)
	if document.Equal(doc, before.Document) {
		return live, nil
	}
	result, err := e.engine.Update(before, doc, apply.Request{
		Manager: manager, Subresource: e.Subresource, Version: e.objectVersion, Time: o.Now(), Empty: e.empty,
	})
	if err != nil {
		return nil, err
	}
	write := store.Write{Key: live.Key(), Expected: live.Revision()}
	if !isOver(e.Kind, doc) {
		write.Value = jsonOf(result.Object)
	}
	written, _, err := o.commit(ctx, write)
	if err != nil {
		return nil, err
	}
	return written[0], nil
}

// Parsed returns an object that is there as the engine takes it.
func (o *Objects) Parsed(live *cache.Object) (apply.Object, error) {
	parsed, err := o.parsed(live)
	if err != nil {
		return parsed, StoreError(err)
	}
	return parsed, nil
}

// Reown writes who owns what in an object that is there, which was parsed, and nothing else. Somebody else's write is
// an error.
func (o *Objects) Reown(ctx context.Context, live *cache.Object, parsed apply.Object, entries []apply.Entry) error {
	parsed.Entries = entries
	_, _, err := o.commit(ctx, store.Write{Key: live.Key(), Expected: live.Revision(), Value: jsonOf(parsed)})
	return err
}
