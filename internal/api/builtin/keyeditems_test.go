package builtin

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// TestKeyedItems compares find in long lists, which have an index, with a linear search.
func TestKeyedItems(t *testing.T) {
	keys := []schema.Key{{Name: "a"}, {Name: "b", Default: document.NewString("y")}}
	random := rand.New(rand.NewPCG(1, 2))
	values := []string{`"a":1`, `"a":1.0`, `"a":1e0`, `"a":"1"`, `"a":2`, `"a":null`, `"c":1`, `"a":"x"`, `"a":"x","b":"y"`, `"a":"xy"`, `"b":"xy"`, `"a":9007199254740993`, `"a":true`}
	list := func(n int) document.Value {
		var items []string
		for range n {
			items = append(items, "{"+values[random.IntN(len(values))]+"}")
		}
		v, err := document.ParseJSON("[" + strings.Join(items, ",") + "]")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 200 {
		in, from := list(maxLinearSearch+1+random.IntN(20)), list(30)
		items := keyedItems{keys: keys, list: in}
		for _, item := range from.Items() {
			want := -1
			for i := in.Len() - 1; i >= 0; i-- {
				if sameKeys(keys, in.At(i), item) {
					want = i
				}
			}
			if got := items.find(item, in.Len()); got != want {
				t.Fatalf("find(%s) in %s = %d, want %d", item, in, got, want)
			}
		}
	}
}

// TestKeyedItemsAreLinear checks that finding the items of a reversed list does not take quadratic time.
func TestKeyedItemsAreLinear(t *testing.T) {
	const n = 200_000
	items := make([]document.Value, n)
	for i := range items {
		items[i] = document.NewMap(document.Field{Name: "a", Value: document.NewString(fmt.Sprint(i))})
	}
	in := keyedItems{keys: []schema.Key{{Name: "a"}}, list: document.NewList(items...)}
	begun := time.Now()
	for i := range n {
		if got := in.find(items[n-1-i], i); got != n-1-i {
			t.Fatalf("find() = %d, want %d", got, n-1-i)
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("finding %d of %d items took a minute", i, n)
		}
	}
}
