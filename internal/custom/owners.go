package custom

import (
	"context"
	"errors"
	"path"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/schema"
)

// A definition may change how a part of its objects merges. Who owned that part goes on owning it, field by field:
//
//	atomic, becomes granular       each field of it, as it is now
//	a list whose keys change       the same items, by their new keys
//	granular, becomes atomic       the whole; the engine sees to that
//	at a version that is gone      what the object has of it at the version that is stored, see retired.go

// mayMergeOtherwise reports whether a kind may merge in another way than the one before it, at some version.
func mayMergeOtherwise(before, kind *kinds.Kind) bool {
	return mergeOtherwise(before.Definition.(*definition).reading, kind.Definition.(*definition).reading)
}

// reownedAtOnce is how many objects get their owners side by side, so that they share the wait for the disk.
const reownedAtOnce = 32

// bringOwners rewrites who owns what in the objects of a kind that has taken the place of another, and reports whether that is done for all.
// Users do not write meanwhile.
func (c *Controller) bringOwners(ctx context.Context, before, kind *kinds.Kind) (isDone bool) {
	if !mayMergeOtherwise(before, kind) {
		return true
	}
	list, err := c.Objects.Cache.List(ctx, cache.Query{Selection: cache.Selection{Kind: kind.StoreName()}, Freshness: cache.Latest})
	if err != nil {
		c.Log.Error("cannot bring owners of custom resources to their new definition", "kind", kind, "error", err)
		return false
	}
	b := &bringer{objects: c.Objects, old: before.Definition.(*definition), now: kind.Definition.(*definition), kind: kind}
	var group errgroup.Group
	group.SetLimit(reownedAtOnce)
	for _, object := range list.Objects {
		group.Go(func() error { return b.reown(ctx, object) })
	}
	if err = group.Wait(); err != nil && ctx.Err() == nil {
		c.Log.Error("cannot bring the owners of all custom resources to their new definition; it is tried again when the server is started", "kind", kind, "error", err)
	}
	return err == nil
}

// bringer brings entries from one definition to another.
type bringer struct {
	objects  *objects.Objects
	old, now *definition
	kind     *kinds.Kind
	// late is why nobody waits any more for those who convert objects: they have not answered in time, and writers wait.
	late atomic.Pointer[conversionError]
}

// reown brings over the owners of an object. The server itself may write to it meanwhile, or delete it: then it looks again.
func (b *bringer) reown(ctx context.Context, object *cache.Object) error {
	key := cache.Key{Kind: object.Kind(), Namespace: object.Namespace(), Name: object.Name()}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var kept error
		err := b.objects.Reown(ctx, object, func(o apply.Object) (entries []apply.Entry) {
			entries, kept = b.entries(o)
			return entries
		})
		if err == nil {
			return kept
		}
		if conflict := (*store.ConflictError)(nil); !errors.As(err, &conflict) {
			return err
		}
		if object, err = b.objects.Cache.Get(ctx, key, cache.Latest); errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// entries returns those of an object as the new definition has them. What can't be brought over stays; the error is why, if it may be
// possible later.
func (b *bringer) entries(object apply.Object) (entries []apply.Entry, kept error) {
	entries = make([]apply.Entry, 0, len(object.Entries))
	for _, entry := range object.Entries {
		to := b.target(entry)
		if to == path.Base(entry.APIVersion) && b.isSame(to) {
			entries = append(entries, entry) // and nobody has to convert the object
			continue
		}
		fields, err := b.fields(object.Document, entry, to)
		if err != nil {
			if errors.Is(err, apply.ErrUnavailable) {
				kept = err
				b.objects.Metrics.ManagedFields(metrics.Kept, 1)
			}
			entries = append(entries, entry)
			continue
		}
		if to != path.Base(entry.APIVersion) {
			if fields.IsEmpty() {
				continue
			}
			entry.APIVersion = b.now.group + "/" + to
		}
		if was, err := entry.Fields(); err != nil || !fields.Equal(was) {
			entry.FieldsV1 = fields.FieldsV1()
		}
		entries = append(entries, entry)
	}
	return joined(entries), kept
}

// isSame reports whether a version merges as before.
func (b *bringer) isSame(version string) bool {
	was, is := b.old.at(version), b.now.at(version)
	return was != nil && is != nil && document.Equal(was.schema, is.schema)
}

var errNoTopology = errors.New("nothing is known about this version")

// fields returns what an entry owns at a version by the new definition.
func (b *bringer) fields(stored document.Value, entry apply.Entry, to string) (fields fieldset.Set, err error) {
	version := path.Base(entry.APIVersion)
	old, had := b.old.Topology(version)
	now, has := b.now.Topology(to)
	if !had || !has {
		return fields, errNoTopology
	}
	if fields, err = entry.Fields(); err != nil {
		return fields, err
	}
	doc, err := b.at(stored, to)
	if err != nil {
		return fields, err
	}
	endpoint, err := b.objects.Endpoint(b.kind, to, "")
	if err != nil {
		return fields, err
	}
	all, err := endpoint.FieldsOf(doc)
	if err != nil {
		return fields, err
	}
	brought := bring(fields, old, now, doc, all)
	if to != version {
		brought = present(brought, all)
	}
	return brought, nil
}

// at returns an object at a version by the new definition.
func (b *bringer) at(stored document.Value, version string) (document.Value, error) {
	if late := b.late.Load(); late != nil && path.Base(stored.Get("apiVersion").Text()) != version {
		return stored, late
	}
	doc, err := b.now.At(stored, version)
	if failed := (*conversionError)(nil); errors.As(err, &failed) && failed.isLate {
		b.late.Store(failed)
	}
	return doc, err
}

// bring returns a field set of one topology as another has it. The document has the values, and all are its fields by the
// new topology.
func bring(s fieldset.Set, old, now *schema.Type, doc document.Value, all fieldset.Set) fieldset.Set {
	var out fieldset.Builder
	mark := out.Mark()
	for i := range s.Len() {
		e, below := s.Element(i), s.Child(i)
		was, is, value := partOf(old, e), partOf(now, e), valueAt(doc, e)
		there, member := all.Below(e)
		switch {
		case was == nil || is == nil:
			out.Push(e, s.Member(i), below)
		case s.Member(i) && below.IsEmpty() && isAtomic(was, value) && !isAtomic(is, value) && !there.IsEmpty():
			out.Push(e, member, there)
		default:
			out.Push(e, s.Member(i), bring(rekeyed(below, was, is, value), was, is, value, there))
		}
	}
	return out.Set(mark)
}

// partOf returns the topology that an element leads to; nil if nothing is declared.
func partOf(t *schema.Type, e fieldset.Element) *schema.Type {
	switch {
	case e.Kind() == fieldset.FieldName && t.Map != nil:
		part, _ := t.Map.TypeOf(e.Name())
		return part
	case e.Kind() != fieldset.FieldName && t.List != nil:
		return t.List.Item
	}
	return nil
}

// isAtomic reports whether a value is owned as a whole.
func isAtomic(t *schema.Type, value document.Value) bool {
	switch value.Kind() {
	case document.Map:
		return t.Map != nil && t.Map.Atomic
	case document.List:
		return t.List != nil && t.List.Relationship == schema.Atomic
	}
	return false
}

// valueAt returns the value that an element leads to.
func valueAt(doc document.Value, e fieldset.Element) document.Value {
	if e.Kind() == fieldset.FieldName {
		return doc.Get(e.Name())
	}
	if e.Kind() != fieldset.Key {
		return document.Value{}
	}
	for _, item := range doc.Items() {
		if hasKeys(item, e.KeyFields()) {
			return item
		}
	}
	return document.Value{}
}

func hasKeys(item document.Value, keys []fieldset.KeyField) bool {
	for _, k := range keys {
		if !document.Equal(item.Get(k.Name), k.Value) {
			return false
		}
	}
	return true
}

// rekeyed returns the items that are owned in a list by their new keys.
func rekeyed(s fieldset.Set, was, is *schema.Type, list document.Value) fieldset.Set {
	if list.Kind() != document.List || was.List == nil || is.List == nil ||
		was.List.Relationship != schema.Keyed || is.List.Relationship != schema.Keyed || sameKeys(was.List.Keys, is.List.Keys) {
		return s
	}
	result := fieldset.Set{}
	for i := range s.Len() {
		e := s.Element(i)
		if item := valueAt(list, e); e.Kind() == fieldset.Key && item.Kind() == document.Map {
			e = keyOf(item, is.List.Keys)
		}
		var one fieldset.Builder
		mark := one.Mark()
		one.Push(e, s.Member(i), s.Child(i))
		result = result.Union(one.Set(mark))
	}
	return result
}

func sameKeys(a, b []schema.Key) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}

// keyOf returns what an item is told apart by.
func keyOf(item document.Value, keys []schema.Key) fieldset.Element {
	fields := make([]fieldset.KeyField, len(keys))
	for i, key := range keys {
		value := item.Get(key.Name)
		if value.IsAbsent() {
			value = key.Default
		}
		fields[i] = fieldset.KeyField{Name: key.Name, Value: value}
	}
	return fieldset.KeyElement(fields...)
}
