package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// matching tells which items of two lists have the same path element.
type matching struct {
	// toLive has, for every item of config, the first live item with its element;
	// toConfig, for every live item, the item of config. -1 stands for none.
	toLive, toConfig []int
	// repeated tells which live items occur more than once; nil if none does.
	repeated []bool
}

func newMatching(live, config int) matching {
	both := make([]int, live+config)
	for i := range both {
		both[i] = -1
	}
	return matching{toConfig: both[:live], toLive: both[live:]}
}

// matchElements matches two lists by their path elements.
func matchElements(l *schema.List, live, config document.Value) matching {
	liveItems, _ := elements(l, live)
	configItems, _ := elements(l, config)
	inLive, inConfig := newIndex(liveItems), newIndex(configItems)
	m := newMatching(len(liveItems), len(configItems))
	m.repeated = inLive.duplicates()
	for i, e := range liveItems {
		m.toConfig[i] = inConfig.find(e)
	}
	for j, e := range configItems {
		m.toLive[j] = inLive.find(e)
	}
	return m
}

// old returns the live item that the j-th item of config is merged with, absent if
// there is none. Live items that occur more than once are replaced, not merged.
func (m *matching) old(live document.Value, j int) document.Value {
	at := m.toLive[j]
	if at < 0 || m.repeated != nil && m.repeated[at] {
		return document.Value{}
	}
	return live.At(at)
}

// zipper merges two lists. The items of config come in its order. Items that only
// live has keep their place before the item that they stood before, as far as that
// agrees with the order of config.
type zipper struct {
	matching
	docs         *document.Builder
	live, config document.Value
	// mergeItem merges the j-th item of config with the live one, which may be
	// absent. It is called once for each, in the order of config.
	mergeItem func(j int, live, item document.Value) document.Value

	merged  []bool // which items of config are in the result already
	shared  []int  // the items of config that live has too and that are to come
	changed bool
}

func (z *zipper) zip() document.Value {
	z.merged = make([]bool, z.config.Len())
	z.shared = make([]int, 0, z.config.Len())
	for j, at := range z.toLive {
		if at >= 0 {
			z.shared = append(z.shared, j)
		}
	}
	mark := z.docs.Mark()
	for i, j := 0, 0; i < z.live.Len() || j < z.config.Len(); {
		i, j = z.step(i, j)
	}
	if !z.changed && z.docs.Pushed(mark) == z.live.Len() {
		z.docs.Drop(mark)
		return z.live
	}
	return z.docs.List(mark)
}

// step decides about the next items of both lists.
func (z *zipper) step(i, j int) (nextI, nextJ int) {
	if i < z.live.Len() {
		at := z.toConfig[i]
		switch {
		case at >= 0 && at == j:
			z.take(j, i)
			return i + 1, j + 1
		case at < 0:
			z.docs.Push("", z.live.At(i))
			return i + 1, j
		case j < z.config.Len() && len(z.shared) > 0 && z.shared[0] != at:
			// It is in config as well, but it is not its turn yet, or no more.
			return i + 1, j
		case z.merged[at]:
			i++
		}
	}
	if j < z.config.Len() {
		z.take(j, i)
		return i, j + 1
	}
	return i, j
}

// take adds the j-th item of config, merged with the live item of the same
// element, at a time when the i-th live item is next.
func (z *zipper) take(j, i int) {
	old := z.old(z.live, j)
	merged := z.mergeItem(j, old, z.config.At(j))
	z.changed = z.changed || z.toLive[j] != i || merged != old
	z.docs.Push("", merged)
	z.merged[j] = true
	if len(z.shared) > 0 && z.shared[0] == j {
		z.shared = z.shared[1:]
	}
}
