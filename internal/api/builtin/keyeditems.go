package builtin

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// keyedItems finds items of a list by their keys. Its zero index is built when a long list is searched for the first time, so that
// finding all items of one list in another takes linear time.
type keyedItems struct {
	keys  []schema.Key
	list  document.Value
	index map[string]int // the position of the first item with each keyText; nil if it is not built
}

// find returns the index in the list of the first item whose keys equal those of item; -1 if there is none. It tries the index likely
// first.
func (k *keyedItems) find(item document.Value, likely int) int {
	if likely < k.list.Len() && sameKeys(k.keys, k.list.At(likely), item) {
		return likely
	}
	if k.list.Len() <= maxLinearSearch {
		for i := range k.list.Len() {
			if sameKeys(k.keys, k.list.At(i), item) {
				return i
			}
		}
		return -1
	}
	if k.index == nil {
		k.index = make(map[string]int, k.list.Len())
		for i := k.list.Len() - 1; i >= 0; i-- {
			k.index[keyText(k.keys, k.list.At(i))] = i
		}
	}
	if at, ok := k.index[keyText(k.keys, item)]; ok {
		return at
	}
	return -1
}

func sameKeys(keys []schema.Key, a, b document.Value) bool {
	for _, key := range keys {
		if !document.Equal(a.Get(key.Name), b.Get(key.Name)) {
			return false
		}
	}
	return true
}

// keyText returns a text that is equal for items whose keys are equal.
func keyText(keys []schema.Key, item document.Value) string {
	var b strings.Builder
	for _, key := range keys {
		value := item.Get(key.Name)
		text := value.JSON()
		if value.Kind() == document.Number {
			if f, err := strconv.ParseFloat(text, 64); err == nil { // equal numbers have different spellings
				text = strconv.FormatFloat(f, 'g', -1, 64)
			}
		}
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.WriteString(text)
	}
	return b.String()
}
