package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// merger merges configurations into live documents. Parts that the configuration does not set, or sets to an equal
// value, are shared with the live document; document.Same reports true for them.
type merger struct{ docs fastdoc.Builder }

// merge returns the live value with all fields that config sets. It removes no fields. Either value may be absent, but
// not both.
func (m *merger) merge(t *schema.Type, live, config document.Value) document.Value {
	switch {
	case config.IsAbsent():
		return live
	case live.IsAbsent():
		return config
	}
	if t == nil {
		t = schema.Untyped
	}
	switch t.Resolve(config.Kind()) {
	case schema.MapAlternative:
		if !t.Map.Atomic && !(isEmptyAs(live, document.Map) && isEmptyAs(config, document.Map)) {
			return m.mergeMaps(t.Map, asKind(live, document.Map), asKind(config, document.Map))
		}
	case schema.ListAlternative:
		if t.List.Relationship != schema.Atomic && !(isEmptyAs(live, document.List) && isEmptyAs(config, document.List)) {
			return m.mergeLists(t.List, asKind(live, document.List), asKind(config, document.List))
		}
	}
	if document.Equal(live, config) {
		return live
	}
	return config
}

// isEmptyAs reports whether v contributes no fields or items when it is merged as a container of the given kind, a map
// or a list: v is an empty container, null, absent, or a value of any other kind.
func isEmptyAs(v document.Value, container document.Kind) bool {
	return v.Kind() != container || v.Len() == 0
}

// asKind returns v, or an absent value if v does not have the given kind.
func asKind(v document.Value, kind document.Kind) document.Value {
	if v.Kind() != kind {
		return document.Value{}
	}
	return v
}

// mergeMaps merges two granular maps field by field.
func (m *merger) mergeMaps(t *schema.Map, live, config document.Value) document.Value {
	switch {
	case config.IsAbsent():
		return live
	case live.IsAbsent():
		return config
	}
	mark := m.docs.Mark()
	changed := false
	for i, j := 0, 0; i < live.Len() || j < config.Len(); {
		switch order := compareNames(live, i, config, j); {
		case order < 0:
			m.docs.Push(live.Name(i), live.At(i))
			i++
		case order > 0:
			m.docs.Push(config.Name(j), config.At(j))
			changed = true
			j++
		default:
			child, _ := t.TypeOf(live.Name(i))
			merged := m.merge(child, live.At(i), config.At(j))
			changed = changed || merged != live.At(i)
			m.docs.Push(live.Name(i), merged)
			i++
			j++
		}
	}
	return m.docs.MapIf(changed, mark, live)
}

// compareNames compares the i-th name of map a with the j-th name of map b. An index past the last name of its map
// sorts last. Callers use compareNames to walk two maps in parallel, in the order of their names.
func compareNames(a document.Value, i int, b document.Value, j int) int {
	switch {
	case i == a.Len():
		return 1
	case j == b.Len():
		return -1
	case a.Name(i) == b.Name(j):
		return 0
	case a.Name(i) < b.Name(j):
		return -1
	}
	return 1
}

// mergeLists merges two granular lists item by item. The items of config keep their order; listMerger describes where
// the live items that are not in config are placed.
func (m *merger) mergeLists(t *schema.List, live, config document.Value) document.Value {
	if config.Len() == 0 {
		return live
	}
	if live.Len() == 0 {
		return config
	}
	z := listMerger{docs: &m.docs, live: live, config: config, matching: matchElements(t, live, config)}
	z.mergeItem = func(_ int, old, item document.Value) document.Value { return m.merge(t.Item, old, item) }
	return z.merge()
}

// matching maps the items of the live list and of the applied list to each other by path element.
type matching struct {
	// toLive[j] is the index of the first live item with the path element of the j-th item of config; toConfig[i] is
	// the index of the item of config with the path element of the i-th live item. Both are -1 if there is no such
	// item.
	toLive, toConfig []int
	// duplicate reports for each live item whether another live item has the same path element. It is nil if there
	// are no duplicates.
	duplicate []bool
}

// newMatching returns a matching without pairs for a live list of liveLen items and an applied list of configLen items.
func newMatching(liveLen, configLen int) matching {
	both := make([]int, liveLen+configLen)
	for i := range both {
		both[i] = -1
	}
	return matching{toConfig: both[:liveLen], toLive: both[liveLen:]}
}

// matchElements matches the items of the lists live and config by their path elements.
func matchElements(l *schema.List, live, config document.Value) matching {
	liveItems, _ := elements(l, live)
	configItems, _ := elements(l, config)
	inLive, inConfig := newElementIndex(liveItems), newElementIndex(configItems)
	m := newMatching(len(liveItems), len(configItems))
	m.duplicate = inLive.duplicates()
	for i, e := range liveItems {
		m.toConfig[i] = inConfig.find(e)
	}
	for j, e := range configItems {
		m.toLive[j] = inLive.find(e)
	}
	return m
}

// liveItem returns the live item into which the j-th item of config is merged, absent if there is no such item.
// Duplicate live items are replaced, not merged, as in structured-merge-diff.
func (m *matching) liveItem(live document.Value, j int) document.Value {
	at := m.toLive[j]
	if at < 0 || m.duplicate != nil && m.duplicate[at] {
		return document.Value{}
	}
	return live.At(at)
}

// listMerger merges two granular lists. The items of config keep their relative order. A live item that is not in
// config stays before the item that follows it in the live list, as far as the order of config allows.
type listMerger struct {
	matching
	docs         *fastdoc.Builder
	live, config document.Value
	// mergeItem merges the j-th item of config with its live item, which may be absent. It is called once per item,
	// in the order of config.
	mergeItem func(j int, live, item document.Value) document.Value

	done    []bool // done[j] reports whether the j-th item of config is in the result
	pending []int  // the indexes of the items of config that have a live item and are not in the result yet
	changed bool
}

// merge returns the merged list, which is the live list itself if nothing changed.
func (m *listMerger) merge() document.Value {
	m.done = make([]bool, m.config.Len())
	m.pending = make([]int, 0, m.config.Len())
	for j, at := range m.toLive {
		if at >= 0 {
			m.pending = append(m.pending, j)
		}
	}
	mark := m.docs.Mark()
	for i, j := 0, 0; i < m.live.Len() || j < m.config.Len(); {
		i, j = m.step(i, j)
	}
	if !m.changed && m.docs.Pushed(mark) == m.live.Len() {
		m.docs.Drop(mark)
		return m.live
	}
	return m.docs.List(mark)
}

// step appends the next item to the result, or skips a live item. i and j are the current positions in the live list
// and in config; step returns the positions after the step.
func (m *listMerger) step(i, j int) (nextI, nextJ int) {
	if i < m.live.Len() {
		at := m.toConfig[i]
		switch {
		case at >= 0 && at == j:
			m.addConfigItem(j, i)
			return i + 1, j + 1
		case at < 0:
			m.docs.Push("", m.live.At(i))
			return i + 1, j
		case j < m.config.Len() && len(m.pending) > 0 && m.pending[0] != at:
			// config contains this live item at another position: skip it; addConfigItem adds it when j reaches that position.
			return i + 1, j
		case m.done[at]:
			i++
		}
	}
	if j < m.config.Len() {
		m.addConfigItem(j, i)
		return i, j + 1
	}
	return i, j
}

// addConfigItem appends the j-th item of config, merged with its live item, to the result. i is the current position in
// the live list. If the live item is not at position i, the order of the list changes, which addConfigItem records.
func (m *listMerger) addConfigItem(j, i int) {
	old := m.liveItem(m.live, j)
	merged := m.mergeItem(j, old, m.config.At(j))
	m.changed = m.changed || m.toLive[j] != i || merged != old
	m.docs.Push("", merged)
	m.done[j] = true
	if len(m.pending) > 0 && m.pending[0] == j {
		m.pending = m.pending[1:]
	}
}
