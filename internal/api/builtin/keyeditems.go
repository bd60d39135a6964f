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

// item returns the first item whose keys equal those of item; absent if there is none. It tries the index likely first.
func (k *keyedItems) item(item document.Value, likely int) document.Value {
	if k.list.Kind() != document.List {
		return document.Value{}
	}
	if at := k.find(item, likely); at >= 0 {
		return k.list.At(at)
	}
	return document.Value{}
}

// keyValue returns the value of a key of a list item: if the item omits it, its default.
func keyValue(key schema.Key, item document.Value) document.Value {
	if value := item.Get(key.Name); !value.IsAbsent() {
		return value
	}
	return key.Default
}

func sameKeys(keys []schema.Key, a, b document.Value) bool {
	for _, key := range keys {
		if !document.Equal(keyValue(key, a), keyValue(key, b)) {
			return false
		}
	}
	return true
}

// keyText returns a text that is equal for items whose keys are equal.
func keyText(keys []schema.Key, item document.Value) string {
	var b strings.Builder
	for _, key := range keys {
		value := keyValue(key, item)
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
