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

// reconcile fits a field set to a topology that may have changed since the set was
// written. Where something granular has become atomic, owning any part of it means
// owning all of it. The result shares what did not change; most often it is the
// set itself.
func reconcile(s fieldset.Set, t *schema.Type) fieldset.Set {
	if fits(s, t) {
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

// fits reports whether a set needs no reconciliation.
func fits(s fieldset.Set, t *schema.Type) bool {
	for i := range s.Len() {
		child := declaredChildType(t, s.Element(i))
		if child == nil {
			continue
		}
		if becameAtomic(child, s.Child(i)) || !fits(s.Child(i), child) {
			return false
		}
	}
	return true
}

// becameAtomic reports whether a set has parts of something that is atomic now.
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

// declaredChildType returns the topology that an element leads to, nil where
// nothing is declared: what is deduced from values can't have changed.
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

// isDeduced reports whether a map is one of which nothing at all is declared.
func isDeduced(m *schema.Map) bool {
	if len(m.Fields) > 0 || m.Element == nil {
		return false
	}
	return m.Element == schema.Untyped || m.Element.Name == "" && m.Element.Scalar == schema.AnyScalar
}

// Reconcile adjusts the entries of an object to a schema that changed, at one version, from before to now. An engine
// itself handles what the sets alone show: where a map or list has become atomic, owning a part becomes owning the
// whole. The opposite needs the former schema: where an atomic map or list has become granular, an owner of the whole
// becomes the owner of all its fields. Items of a list whose keys changed are owned by their new keys.
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
		fitted := expandSet(set, o.Document, before, now)
		if fitted = reconcile(fitted, now); !fitted.Equal(set) {
			entries[i].FieldsV1 = fitted.FieldsV1()
		}
	}
	return Object{Document: o.Document, Entries: entries}, nil
}

// expandSet replaces what was atomic before and is granular now by all that the
// document has there, and the keys of items by those that they have now.
func expandSet(s fieldset.Set, doc document.Value, before, now *schema.Type) fieldset.Set {
	var b fastset.Builder
	mark := b.Mark()
	items := selectInSetOrder(nil, before, doc, s)
	var rekeyed []fieldset.Set
	for i := range s.Len() {
		e, member, below := s.Element(i), s.Member(i), s.Child(i)
		was, _ := childType(before, e)
		is, declared := childType(now, e)
		value := childOf(doc, items, e, i)
		switch {
		case was == nil || is == nil:
		case member && below.IsEmpty() && shapeOf(was, value) == leafShape && shapeOf(is, value) != leafShape && value.Len() > 0:
			below = fieldsOf(is, value)
			member = !declared
		default:
			below = expandSet(below, value, was, is)
		}
		if key, ok := rekeyedElement(e, value, before, now); ok {
			one := b.Mark()
			b.Push(key, member, below)
			rekeyed = append(rekeyed, b.Set(one))
			continue
		}
		b.Push(e, member, below)
	}
	rest := b.Set(mark)
	if rekeyed == nil {
		return rest
	}
	return rest.Union(unionOf(rekeyed)) // new keys may be in another order, and two items have the same
}

// rekeyedElement returns by what an item is told apart now that was by other keys.
func rekeyedElement(e fieldset.Element, item document.Value, before, now *schema.Type) (key fieldset.Element, ok bool) {
	if e.Kind() != fieldset.Key || item.Kind() != document.Map || !isListMap(before) || !isListMap(now) || sameKeys(before.List, now.List) {
		return e, false
	}
	return elementOf(now.List, item)
}

func isListMap(t *schema.Type) bool { return t.List != nil && t.List.Relationship == schema.Keyed }

func sameKeys(a, b *schema.List) bool {
	return slices.EqualFunc(sortedKeys(a), sortedKeys(b), func(x, y schema.Key) bool { return x.Name == y.Name })
}

// fieldsCache remembers texts of field sets that have been read and found to need nothing:
// they are well formed and fit the topology of today. The same texts come again and
// again, with every write to an object and with every object that the same manager
// made, so that nearly all of them need not be read to know that.
//
// It is a table of hashes of fixed size, without locks. Each hash has a few slots to
// choose from; newer ones overwrite older ones. Hashes are of 64 bits and seeded, so that
// no two texts that matter meet.
type fieldsCache struct {
	seed  maphash.Seed
	slots [cacheSets][cacheWays]atomic.Uint64
}

const (
	cacheSets = 1 << 8
	cacheWays = 4
)

func newFieldsCache() *fieldsCache { return &fieldsCache{seed: maphash.MakeSeed()} }

func (m *fieldsCache) hash(version, text string) uint64 {
	return maphash.String(m.seed, text) ^ maphash.String(m.seed, version) | 1 // never 0, an empty slot
}

func (m *fieldsCache) has(hash uint64) bool {
	set := &m.slots[hash>>1%cacheSets]
	for i := range set {
		if set[i].Load() == hash {
			return true
		}
	}
	return false
}

func (m *fieldsCache) add(hash uint64) {
	set := &m.slots[hash>>1%cacheSets]
	for i := range set {
		if set[i].CompareAndSwap(0, hash) {
			return
		}
	}
	set[hash>>32%cacheWays].Store(hash)
}
