package apply

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// reconcile adapts a field set to a topology that may have changed since the set was written. Where a granular map or
// list has become atomic, a manager that owned a part of it now owns the whole map or list. Usually the set fits, and
// the result is the set itself.
func reconcile(s fieldset.Set, t *schema.Type) fieldset.Set {
	if fitsTopology(s, t) {
		return s
	}
	var b fastset.Builder
	mark := b.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		child := declaredChildType(t, e)
		switch {
		case child == nil:
			b.Push(e, s.Member(i), s.Child(i))
		case becameAtomic(child, s.Child(i)):
			b.Push(e, true, fieldset.Set{})
		default:
			b.Push(e, s.Member(i), reconcile(s.Child(i), child))
		}
	}
	return b.Set(mark)
}

// fitsTopology reports whether the field set s conforms to the topology t. reconcile returns such a set unchanged.
func fitsTopology(s fieldset.Set, t *schema.Type) bool {
	for i := range s.Len() {
		child := declaredChildType(t, s.Element(i))
		if child == nil {
			continue
		}
		if becameAtomic(child, s.Child(i)) || !fitsTopology(s.Child(i), child) {
			return false
		}
	}
	return true
}

// becameAtomic reports whether t is atomic although a field set contains fields (below) inside of a value of type t.
func becameAtomic(t *schema.Type, below fieldset.Set) bool {
	if below.IsEmpty() {
		return false
	}
	switch {
	case t.Map != nil:
		return t.Map.Atomic && !isDeduced(t.Map)
	case t.Scalar != schema.NoScalar:
		return false
	}
	return t.List != nil && t.List.Relationship == schema.Atomic
}

// declaredChildType returns the declared type of the field or list item that the path element e selects in a value of
// type t. It returns nil if no type is declared: a type that is deduced from the value can't have changed.
func declaredChildType(t *schema.Type, e fieldset.Element) *schema.Type {
	switch {
	case t.Map != nil:
		if isDeduced(t.Map) {
			return nil
		}
		if e.Kind() == fieldset.FieldName {
			child, _ := t.Map.TypeOf(e.Name())
			return child
		}
		return t.Map.Element
	case t.Scalar == schema.NoScalar && t.List != nil:
		return t.List.Item
	}
	return nil
}

// isDeduced reports whether a map type declares no fields and no element type, so the types of its fields are deduced
// from their values.
func isDeduced(m *schema.Map) bool {
	if len(m.Fields) > 0 || m.Element == nil {
		return false
	}
	return m.Element == schema.Untyped || m.Element.Name == "" && m.Element.Scalar == schema.AnyScalar
}

// Reconcile adapts the entries of one version to a schema that changed from the schema before to the schema now. Where a
// granular map or list has become atomic, a manager that owned a part becomes an owner of the whole; Apply and Update do this,
// too. Where an atomic map or list has become granular, a manager that owned the whole becomes an owner of all its fields; this
// requires the former schema. If the keys of a list changed, the field sets identify its items by the new keys; an item that
// the object lacks, because an unset marker removed it, gets the new keys if their values are among its former keys and the
// defaults of the new keys and no other item has them, and otherwise keeps its former keys. Reconcile returns an [*EntryError]
// if a field set can't be decoded.
func Reconcile(o Object, version string, before, now *schema.Type) (Object, error) {
	entries := slices.Clone(o.Entries)
	for i, entry := range entries {
		if entry.APIVersion != version {
			continue
		}
		set, err := entry.Fields()
		if err != nil {
			return Object{}, &EntryError{Index: i, Problem: "expected a field set", Err: err}
		}
		reconciled := expandSet(set, o.Document, before, now)
		if reconciled = reconcile(reconciled, now); !reconciled.Equal(set) {
			entries[i].FieldsV1 = reconciled.FieldsV1()
		}
	}
	return Object{Document: o.Document, Entries: entries}, nil
}

// expandSet adapts the field set s to a schema that changed from before to now. It replaces members that were atomic in
// the old schema and are granular in the new schema with all fields of their value, and gives list items path elements
// with the new keys.
func expandSet(s fieldset.Set, doc document.Value, before, now *schema.Type) fieldset.Set {
	var b fastset.Builder
	mark := b.Mark()
	items := selectInSetOrder(nil, before, doc, s)
	var rekeyed []fieldset.Set
	for i := range s.Len() {
		e, member, below := s.Element(i), s.Member(i), s.Child(i)
		oldType, _ := childType(before, e)
		newType, declared := childType(now, e)
		value := childOf(doc, items, e, i)
		switch {
		case oldType == nil || newType == nil:
		case member && below.IsEmpty() && shapeOf(oldType, value) == leafShape && shapeOf(newType, value) != leafShape && value.Len() > 0:
			below = fieldsOf(newType, value)
			member = !declared
		default:
			below = expandSet(below, value, oldType, newType)
		}
		if key, ok := rekeyedElement(e, value, doc, before, now); ok {
			keyMark := b.Mark()
			b.Push(key, member, below)
			rekeyed = append(rekeyed, b.Set(keyMark))
			continue
		}
		b.Push(e, member, below)
	}
	rest := b.Set(mark)
	if rekeyed == nil {
		return rest
	}
	return rest.Union(unionOf(rekeyed)) // the new keys may sort differently, and two items may have equal new keys
}

// rekeyedElement returns the path element of item with the keys of the new schema, now. ok is false if the keys of the list did
// not change, if item does not contain the new keys, or if item is absent and list has another item with the new keys: the
// manager owns the absence of item, not the other item.
func rekeyedElement(e fieldset.Element, item, list document.Value, before, now *schema.Type) (key fieldset.Element, ok bool) {
	switch {
	case e.Kind() != fieldset.Key || !isListMap(before) || !isListMap(now) || sameKeys(before.List, now.List):
		return e, false
	case item.IsAbsent():
		item = withKeys(document.NewMap(), e)
		isKnown := func(k schema.Key) bool { return !item.Get(k.Name).IsAbsent() }
		isMissing := func(k schema.Key) bool { return keyValue(k, item).IsAbsent() }
		if !slices.ContainsFunc(now.List.Keys, isKnown) || slices.ContainsFunc(now.List.Keys, isMissing) {
			return e, false
		}
		key, ok = elementOf(now.List, item)
		return key, ok && !hasItem(now.List, list, key)
	case item.Kind() != document.Map:
		return e, false
	}
	return elementOf(now.List, item)
}

// hasItem reports whether a list contains an item with the path element e.
func hasItem(l *schema.List, list document.Value, e fieldset.Element) bool {
	if list.Kind() != document.List {
		return false
	}
	for _, item := range list.Items() {
		if found, ok := elementOf(l, item); ok && found == e {
			return true
		}
	}
	return false
}

func isListMap(t *schema.Type) bool { return t.List != nil && t.List.Relationship == schema.Keyed }

func sameKeys(a, b *schema.List) bool {
	return slices.EqualFunc(sortedKeys(a), sortedKeys(b), func(x, y schema.Key) bool { return x.Name == y.Name })
}

// fieldsCache contains the hashes of FieldsV1 texts that need no reconciliation: they are valid, not empty, canonically
// encoded and fit the current topology. The same texts recur with every write to an object and with every object of the
// same manager, so few field sets need to be decoded.
//
// It is a set-associative hash table of fixed size, without locks. A new hash may overwrite an older one. Hashes have
// 64 bits and a random seed, so collisions are negligible.
type fieldsCache struct {
	seed  maphash.Seed
	slots [cacheSets][cacheWays]atomic.Uint64
}

const (
	cacheSets = 1 << 8
	cacheWays = 4
)

func newFieldsCache() *fieldsCache { return &fieldsCache{seed: maphash.MakeSeed()} }

// hash returns the cache key of the given FieldsV1 text at the given version. It is never 0.
func (c *fieldsCache) hash(version, text string) uint64 {
	return maphash.String(c.seed, text) ^ maphash.String(c.seed, version) | 1 // 0 is an empty slot
}

// has reports whether the cache contains the given hash.
func (c *fieldsCache) has(hash uint64) bool {
	set := &c.slots[hash>>1%cacheSets]
	for i := range set {
		if set[i].Load() == hash {
			return true
		}
	}
	return false
}

// add adds a hash; if all slots for the hash are occupied, it overwrites one of them.
func (c *fieldsCache) add(hash uint64) {
	set := &c.slots[hash>>1%cacheSets]
	for i := range set {
		if set[i].CompareAndSwap(0, hash) {
			return
		}
	}
	set[hash>>32%cacheWays].Store(hash)
}
