package apply

import "testing"

// Items of lists of type set and map must be unique in a configuration. Live lists may have duplicates, because updates
// are not validated and schemas change.

// TestDuplicatesRejected: a configuration with duplicate items is rejected; the error contains the indexes of both
// items.
func TestDuplicatesRejected(t *testing.T) {
	for _, c := range []struct {
		name, config string
		paths        []string
		parts        []string
	}{
		{"set", `set: [a, b, a]`, []string{`.set[="a"]`}, []string{"index 0", "index 2", "remove one"}},
		{"numbers", `numbers: [1, 1.0]`, []string{`.numbers[=1]`}, []string{"index 0", "index 1"}},
		{"three times", `set: [a, a, a]`, []string{`.set[="a"]`, `.set[="a"]`}, []string{"index 0", "index 1", "index 2"}},
		{"list-map", `items: [{name: a, value: 1}, {name: b}, {name: a, value: 2}]`, []string{`.items[name="a"]`},
			[]string{"index 0", `{"name":"a","value":1}`, "index 2", `{"name":"a","value":2}`}},
		{"two keys", `ports: [{port: 1, protocol: UDP}, {port: 1, protocol: UDP}]`, []string{`.ports[port=1,protocol="UDP"]`}, []string{"index 0", "index 1"}},
		{"defaulted key", `ports: [{port: 1}, {port: 1, protocol: TCP}]`, []string{`.ports[port=1,protocol="TCP"]`}, []string{"index 0", "index 1"}},
		{"nested", `items: [{name: a, tags: [x, x]}]`, []string{`.items[name="a"].tags[="x"]`}, []string{"index 0", "index 1"}},
		{"long list", `set: [a, b, c, d, e, f, g, h, i, j, k, c]`, []string{`.set[="c"]`}, []string{"index 2", "index 11"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			newScript(t).invalid("m1", c.config, c.paths, c.parts...)
		})
	}
	t.Run("atomic lists may repeat", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{list: [a, a], structList: [{a: 1}, {a: 1}]}`)
	})
}

// TestLiveDuplicatesTolerated: duplicates in the live object are tolerated, and owned as upstream owns them: as one
// path element without fields below it.
func TestLiveDuplicatesTolerated(t *testing.T) {
	const live = `{set: [a, b, a], items: [{name: a, value: 1}, {name: b, value: 1}, {name: a, value: 2}]}`
	t.Run("owned as one", func(t *testing.T) {
		s := newScript(t)
		s.update("u", live)
		s.wantOwners(`u/Update .set .set[="a"] .set[="b"] .items .items[name="a"] .items[name="b"]{,.name,.value}`)
	})
	t.Run("not changed by unrelated applies", func(t *testing.T) {
		s := newScript(t)
		s.update("u", live)
		s.apply("m1", `{set: [c], items: [{name: c}]}`)
		s.want(`{set: [a, b, a, c], items: [{name: a, value: 1}, {name: b, value: 1}, {name: a, value: 2}, {name: c}]}`)
		s.apply("m1", ``)
		s.want(live)
	})
	t.Run("applying a duplicate item conflicts", func(t *testing.T) {
		s := newScript(t)
		s.update("u", live)
		s.conflict("m1", `items: [{name: a, value: 1}]`, `.items[name="a"] u/Update`)
		s.force("m1", `items: [{name: a, value: 3}]`)
		s.want(`{set: [a, b, a], items: [{name: a, value: 3}, {name: b, value: 1}]}`)
	})
	t.Run("duplicates are replaced, not merged", func(t *testing.T) {
		s := newScript(t)
		s.update("u", `items: [{name: a, value: 1, tags: [x]}, {name: a, tags: [z]}]`)
		s.force("m1", `items: [{name: a, value: 3}]`)
		s.want(`items: [{name: a, value: 3}]`)
		s.wantOwners(`m1 .items[name="a"]{,.name,.value}`, "u/Update .items")
	})
	t.Run("applying one item of a set", func(t *testing.T) {
		s := newScript(t)
		s.update("u", live)
		s.conflict("m1", `set: [a]`, `.set[="a"] u/Update`)
		s.force("m1", `set: [a]`)
		if got := s.live.Document.Get("set").String(); got != `["a","b"]` {
			t.Errorf("set = %s, want [\"a\",\"b\"]", got)
		}
	})
	t.Run("an update that adds a duplicate takes over the item", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `items: [{name: a, value: 1}]`)
		s.update("u", `items: [{name: a, value: 1}, {name: a, value: 2}]`)
		s.wantOwners(`u/Update .items[name="a"]`)
	})
	t.Run("an update that removes the duplicate takes over the item", func(t *testing.T) {
		s := newScript(t)
		s.update("u1", `items: [{name: a, value: 1}, {name: a, value: 2}]`)
		s.update("u2", `items: [{name: a, value: 1}]`)
		s.wantOwners("u1/Update .items", `u2/Update .items[name="a"]{,.name,.value}`)
	})
	t.Run("an update that changes one duplicate", func(t *testing.T) {
		s := newScript(t)
		s.update("u1", `items: [{name: a, value: 1}, {name: a, value: 2}]`)
		s.update("u2", `items: [{name: a, value: 1}, {name: a, value: 3}]`)
		s.wantOwners("u1/Update .items", `u2/Update .items[name="a"]`)
	})
	t.Run("unset removes all duplicates", func(t *testing.T) {
		s := newScript(t)
		s.update("u", live)
		s.conflict("m1", `items: [{name: a, k8s_io__value: unset}]`, `.items[name="a"] u/Update`)
		s.force("m1", `items: [{name: a, k8s_io__value: unset}]`)
		s.want(`{set: [a, b, a], items: [{name: b, value: 1}]}`)
		s.wantOwners(`m1 .items[name="a"]`, `u/Update .set .set[="a"] .set[="b"] .items .items[name="b"]{,.name,.value}`)
	})
}
