package apply

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/internal/lib/fieldsv1"
	"github.com/cadastre/cadastre/schema"
)

// configWalker validates a configuration, computes its field set and merges it into the live document in one pass;
// validate, fieldsOf and merge are the plain equivalents. It avoids intermediate results:
//
//   - the merged document is the live document until the first difference
//   - the field set is encoded as FieldsV1 and compared with the applier's previous encoding; it is decoded only if they
//     differ
//   - items of the live list and of the applied list are matched by their key values, without building path elements
//
// It creates no error messages. If the configuration is invalid, it sets failed, and validate reports the problems. It
// supports unset markers only in place of declared fields of existing containers; at any other marker it sets failed,
// too, and the caller reads the configuration again without its markers.
type configWalker struct {
	docs   fastdoc.Builder
	fields fieldsv1.Writer
	// untracked and reset are the untracked fields and the reset fields below the current value. None of these fields
	// becomes a member of the field set. hasExcluded reports whether at least one of the two sets is not empty.
	untracked, reset fieldset.Set
	hasExcluded      bool
	setsUntracked    bool // becomes intent.setsUntracked
	failed           bool

	// mayHaveMarkers reports that the configuration may have unset markers. markerCount is the number of markers found
	// so far, and unset contains their paths.
	mayHaveMarkers bool
	markerCount    int
	unset          fastset.Builder

	keys    []document.Field // stack of the list map keys of the items of all lists that the walk is in
	maxKeys int              // maximum length of keys since the last release; release clears keys up to this length
	ints    []int            // stack of the sorted indexes and the end offsets of the items of these lists; see itemMark
}

var configWalkers = sync.Pool{New: func() any { return new(configWalker) }}

// walkConfig computes the intent of a configuration in one pass. done is false if the configuration is invalid or
// contains markers that configWalker does not support.
func walkConfig(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (intended intent, done bool) {
	w := configWalkers.Get().(*configWalker)
	w.untracked, w.reset, w.hasExcluded = untrackedFields, reset, true
	w.setsUntracked = false
	w.mayHaveMarkers, w.markerCount = markers, 0
	w.failed = markers && isUnsetMarker(config)
	w.fields.Begin()
	merged := w.value(t, live, config)
	if done = !w.failed && !(w.setsUntracked && w.markerCount > 0); done {
		intended = intent{config: config, merged: merged, fieldsV1: string(w.fields.End()), unset: w.unset.Set(0), setsUntracked: w.setsUntracked}
	}
	w.release() // not deferred: after a panic the builders are inconsistent, and the walker must not return to the pool
	return intended, done
}

// release clears the walker's references to documents and returns it to the pool.
func (w *configWalker) release() {
	w.docs.Reset()
	w.unset.Reset()
	clear(w.keys[:max(w.maxKeys, len(w.keys))])
	w.keys, w.ints, w.maxKeys = w.keys[:0], w.ints[:0], 0
	if cap(w.keys) <= maxPooledScratch && cap(w.ints) <= maxPooledScratch {
		configWalkers.Put(w)
	}
}

// maxPooledScratch is the maximum capacity, in elements, of the scratch slices of a pooled walker or pruner. A walker
// or pruner with larger slices does not return to the pool.
const maxPooledScratch = 1 << 12

// value walks a value of the configuration and its live value, which may be absent, and returns the merged value. It
// appends the fields below the value to w.fields.
func (w *configWalker) value(t *schema.Type, live, config document.Value) document.Value {
	switch kind := config.Kind(); {
	case kind == document.Null:
		w.setsUntracked = true
		var m merger
		return m.merge(t, live, config)
	case kind == document.Map && t.Map != nil && !t.Map.Atomic:
		return w.granularMap(t.Map, live, config)
	case kind == document.List && t.List != nil && t.List.Relationship != schema.Atomic:
		return w.granularList(t.List, live, config)
	}
	return w.leaf(t, live, config)
}

// leaf walks a scalar or an atomic value and returns the merged value. A value that equals its live value is not
// validated.
func (w *configWalker) leaf(t *schema.Type, live, config document.Value) document.Value {
	w.failed = w.failed || w.mayHaveMarkers && mayContainMarker(config)
	if document.Equal(live, config) {
		return live
	}
	if !w.accepts(t, config) {
		w.failed = true
	}
	return config
}

// liveIfEqual returns the live value if the two values are equal, and the applied value otherwise. Returning the live
// value lets callers detect unchanged values by comparing with ==.
func liveIfEqual(live, config document.Value) document.Value {
	if document.Equal(live, config) {
		return live
	}
	return config
}

// accepts reports whether validate would accept v: a scalar, an atomic value or a value inside of an atomic value.
func (w *configWalker) accepts(t *schema.Type, v document.Value) bool {
	switch v.Kind() {
	case document.Null:
		return true
	case document.Map:
		return t.Map != nil && w.acceptsFields(t.Map, v)
	case document.List:
		return t.List != nil && w.acceptsItems(t.List, v)
	}
	return acceptsScalar(t, v.Kind())
}

func (w *configWalker) acceptsFields(m *schema.Map, v document.Value) bool {
	for i := range v.Len() {
		if t, _ := m.TypeOf(v.Name(i)); t == nil || !w.accepts(t, v.At(i)) {
			return false
		}
	}
	return true
}

func (w *configWalker) acceptsItems(l *schema.List, v document.Value) bool {
	if l.Relationship != schema.Atomic {
		mark := w.openItems(l, v)
		unique := w.sortItems(mark)
		w.closeItems(mark)
		if !unique {
			return false
		}
	}
	for i := range v.Len() {
		if !w.accepts(l.Item, v.At(i)) {
			return false
		}
	}
	return true
}

// granularMap walks a granular map in one pass over its sorted fields and those of the live map, and returns the merged
// map.
func (w *configWalker) granularMap(m *schema.Map, live, config document.Value) document.Value {
	old := asKind(live, document.Map)
	if old.Len() == 0 && config.Len() == 0 {
		return liveIfEqual(live, config)
	}
	mark, markerCount := w.docs.Mark(), w.markerCount
	changed, plain := false, fastdoc.HasPlainNames(config)
	i := 0
	for j := 0; j < config.Len() && !w.failed; j++ {
		name, value := config.Field(j)
		var oldField document.Value
		for ; i < old.Len(); i++ {
			oldName, field := old.Field(i)
			if oldName == name {
				oldField = field
				i++
				break
			}
			if oldName > name {
				break
			}
			if changed {
				w.docs.Push(oldName, field)
			}
		}
		t, declared := m.TypeOf(name)
		merged := w.field(t, declared, fieldsv1.Name{Text: name, Plain: plain}, oldField, value)
		switch {
		case changed:
		case old.Len() == 0 && w.markerCount > markerCount:
			// This is the first unset marker: copy all applied fields that precede it.
			changed = true
			w.docs.PushAll(config, 0, j)
		case old.Len() > 0 && merged != oldField:
			// This is the first difference: copy all live fields that precede it.
			changed = true
			before, _ := old.Find(name)
			w.docs.PushAll(old, 0, before)
		}
		if changed {
			w.docs.Push(name, merged)
		}
	}
	switch {
	case !changed && old.Len() == 0:
		return config
	case !changed, old.Len() == 0 && w.docs.Pushed(mark) == 0:
		return live
	}
	w.docs.PushAll(old, i, old.Len())
	return w.docs.Map(mark)
}

// field walks one field of a map and returns the merged value. old is the live value and value the applied value.
func (w *configWalker) field(t *schema.Type, declared bool, name fieldsv1.Name, old, value document.Value) document.Value {
	if t == nil {
		w.failed = true
		return value
	}
	if !w.hasExcluded && isScalar(value.Kind()) {
		w.fields.Leaf(name)
		return w.leaf(t, old, value)
	}
	if w.mayHaveMarkers {
		return w.fieldWithMarkers(t, declared, name, old, value)
	}
	return w.container(t, declared, name, old, value)
}

// container walks a map field whose value is not a scalar, or that may be an untracked or reset field.
func (w *configWalker) container(t *schema.Type, declared bool, name fieldsv1.Name, old, value document.Value) document.Value {
	member := !declared || isMember(t, value)
	if w.hasExcluded {
		return w.fieldWithExclusions(t, name, member, old, value)
	}
	opened := w.fields.OpenName(name, member)
	merged := w.value(t, old, value)
	w.fields.Close(opened)
	return merged
}

// fieldWithMarkers walks a map field whose value may be an unset marker or contain markers. It returns an absent value
// for a marker.
func (w *configWalker) fieldWithMarkers(t *schema.Type, declared bool, name fieldsv1.Name, old, value document.Value) document.Value {
	if isUnsetMarker(value) {
		w.markerCount++
		w.failed = w.failed || w.hasExcluded || value.Len() != 1 || value.At(0).Text() != UnsetMarkerValue
		w.fields.Leaf(name)
		w.unset.Push(fieldset.NameElement(name.Text), true, fieldset.Set{})
		return document.Value{}
	}
	mark, markerCount := w.unset.Mark(), w.markerCount
	merged := w.container(t, declared, name, old, value)
	if w.markerCount > markerCount {
		// An undeclared field that contains nothing but markers must not become a member of the field set; readInSteps
		// handles that case.
		w.failed = w.failed || !declared
		w.unset.Push(fieldset.NameElement(name.Text), false, w.unset.Set(mark))
	}
	return merged
}

// fieldWithExclusions walks a field that may be an untracked or reset field, or contain such fields. Most of them are
// near the root of an object, so the walk seldom takes this path.
func (w *configWalker) fieldWithExclusions(t *schema.Type, name fieldsv1.Name, member bool, old, value document.Value) document.Value {
	untracked, reset := w.untracked, w.reset
	var isUntracked, isReset bool
	w.untracked, isUntracked = untracked.Below(fieldset.NameElement(name.Text))
	w.reset, isReset = reset.Below(fieldset.NameElement(name.Text))
	w.hasExcluded = !w.untracked.IsEmpty() || !w.reset.IsEmpty()
	start := w.fields.Len()
	opened := w.fields.OpenName(name, member && !isUntracked)
	merged := w.value(t, old, value)
	w.fields.Close(opened)
	if isReset {
		w.setsUntracked = true
		w.fields.Truncate(start)
	}
	w.untracked, w.reset, w.hasExcluded = untracked, reset, true
	return merged
}

// granularList walks a granular list item by item and returns the merged list.
func (w *configWalker) granularList(l *schema.List, live, config document.Value) document.Value {
	if config.Len() == 0 {
		w.setsUntracked = true
		if isEmptyAs(live, document.List) {
			return liveIfEqual(live, config)
		}
		return live
	}
	if w.hasExcluded {
		w.failed = true // not supported, because no built-in kind has untracked or reset fields inside of lists
		return config
	}
	items := w.openItems(l, config)
	defer w.closeItems(items)
	if w.failed || !w.sortItems(items) {
		w.failed = true
		return config
	}
	start := w.fields.Len()
	merged := w.mergeItems(l, live, config, items)
	if !w.failed && !slices.IsSorted(w.order(items)) {
		w.fields.Arrange(start, w.ends(items), w.order(items))
	}
	return merged
}

// mergeItems merges the items of the applied list config, which is not empty, into the live list. items locates the keys
// of config's items.
func (w *configWalker) mergeItems(l *schema.List, live, config document.Value, items itemMark) document.Value {
	old := asKind(live, document.List)
	switch {
	case old.Len() == 0:
		markerCount := w.markerCount
		for j := 0; j < config.Len() && !w.failed; j++ {
			w.item(l, items, j, document.Value{}, config.At(j))
		}
		w.failed = w.failed || w.markerCount > markerCount
		return config
	case w.hasSameKeys(l, old, items):
		return w.mergeAligned(l, old, config, items)
	}
	return w.mergeMatched(l, old, config, items)
}

// mergeMatched is the variant of mergeItems for lists whose items must be matched by key. It is a function of its own, because its
// listMerger would make the frames of mergeItems large, which nest.
//
//go:noinline
func (w *configWalker) mergeMatched(l *schema.List, old, config document.Value, items itemMark) document.Value {
	z := listMerger{docs: &w.docs, live: old, config: config, matching: w.matchItems(l, old, config, items)}
	z.mergeItem = func(j int, old, item document.Value) document.Value { return w.item(l, items, j, old, item) }
	return z.merge()
}

// mergeAligned is the variant of mergeItems for lists with equal keys at each index; see hasSameKeys.
func (w *configWalker) mergeAligned(l *schema.List, live, config document.Value, items itemMark) document.Value {
	mark := w.docs.Mark()
	changed := false
	for j := 0; j < config.Len() && !w.failed; j++ {
		merged := w.item(l, items, j, live.At(j), config.At(j))
		if !changed && merged != live.At(j) {
			changed = true
			w.docs.PushAll(live, 0, j)
		}
		if changed {
			w.docs.Push("", merged)
		}
	}
	if !changed {
		return live
	}
	return w.docs.List(mark)
}

// item walks the j-th item of the applied list and returns it merged with old, its live item.
func (w *configWalker) item(l *schema.List, items itemMark, j int, old, item document.Value) document.Value {
	var opened fieldsv1.Opened
	if l.Relationship == schema.Keyed {
		opened = w.fields.OpenKey(w.keysOf(items, j))
	} else {
		opened = w.fields.OpenValue(item)
	}
	mark, markerCount := w.unset.Mark(), w.markerCount
	merged := w.value(l.Item, old, item)
	w.fields.Close(opened)
	w.ends(items)[j] = w.fields.Len()
	if w.mayHaveMarkers {
		w.failed = w.failed || hasMarkedKey(l, item)
	}
	if w.markerCount > markerCount {
		e, ok := elementOf(l, item)
		// A list item that contains nothing but markers must not become a member of the field set; readInSteps handles
		// that case.
		w.failed = w.failed || !ok || !hasExplicitKey(l, item)
		w.unset.Push(e, false, w.unset.Set(mark))
	}
	return merged
}

// hasExplicitKey reports whether the item sets at least one of its keys. The identity of any other item consists of
// defaults only.
func hasExplicitKey(l *schema.List, item document.Value) bool {
	return slices.ContainsFunc(l.Keys, func(key schema.Key) bool { return !item.Get(key.Name).IsAbsent() })
}

// hasMarkedKey reports whether a list item is an unset marker, or contains one as the value of a key.
func hasMarkedKey(l *schema.List, item document.Value) bool {
	return isUnsetMarker(item) || slices.ContainsFunc(l.Keys, func(key schema.Key) bool { return isUnsetMarker(item.Get(key.Name)) })
}
