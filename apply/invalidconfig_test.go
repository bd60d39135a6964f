package apply

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestFastEngineRejectsLikePlainEngine: for randomly corrupted configurations and several live objects, the fast and
// the plain engine return the same error or the same result.
func TestFastEngineRejectsLikePlainEngine(t *testing.T) {
	rejected, accepted := 0, 0
	for _, unset := range []bool{false, true} {
		eachHistory(t, Options{Unset: unset}, nil, func(g generator, e *Engine, before Object, s step, result Result) error {
			if s.update {
				return nil
			}
			options := e.options
			options.plain = true
			plain := mustEngine(options)
			for _, live := range []Object{{}, before, result.Object} {
				s.doc = g.corrupt(s.doc)
				want, wantErr := s.run(plain, live)
				got, err := s.run(e, live)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && (formatObject(got.Object) != formatObject(want.Object) || got.NoOp != want.NoOp) {
					return fmt.Errorf("configuration %v\nlive %s\nfast engine: error %v, object\n%s\nplain engine: error %v, object\n%s", s.doc, formatObject(live), err, formatObject(got.Object), wantErr, formatObject(want.Object))
				}
				if err != nil {
					rejected++
				} else {
					accepted++
				}
			}
			return nil
		})
	}
	if rejected < 300 || accepted < 300 {
		t.Errorf("%d configurations rejected, %d accepted; want at least 300 of each", rejected, accepted)
	}
}

// corrupt returns v with a random part replaced, added or removed, which may make it invalid.
func (g generator) corrupt(v document.Value) document.Value {
	if v.Len() == 0 {
		return v
	}
	i := g.IntN(v.Len())
	odd := parse(pick(g, "null", "[]", "{}", "1", "x", "[null]", "[[]]", "[{}]", "{k: null}", "{k: p}", "[{k: p}, {k: p}]",
		"[1, 1.0]", "[{k: p, j: 1}, {k: p}]", "{k8s_io__value: unset}", "{k8s_io__value: 1}", "{k: p, k8s_io__value: unset}",
		"{x: {k8s_io__value: unset}}", "[{k8s_io__value: unset}]", "{…: 1}"))
	if v.Kind() == document.Map {
		switch {
		case !v.Get("k").IsAbsent() && g.chance(40):
			return v.Without("k")
		case g.chance(15):
			return v.With(v.Name(i), odd)
		case g.chance(5):
			return v.With("nosuch", odd)
		}
		return v.With(v.Name(i), g.corrupt(v.At(i)))
	}
	var items []document.Value
	for j, item := range v.Items() {
		if j == i {
			if item = g.corrupt(item); g.chance(25) {
				item = odd
			}
		}
		items = append(items, item)
	}
	if g.chance(10) {
		items = append(items, items[0])
	}
	return document.NewList(items...)
}

// TestInvalidItemsOverLiveList: invalid items are rejected if the live list has other items. Each case is a former
// bug.
func TestInvalidItemsOverLiveList(t *testing.T) {
	for _, test := range []struct{ live, config, path string }{
		{`items: [{name: a}]`, `items: [{value: 1}]`, ".items[0]"},
		{`items: [{name: a}]`, `items: [null]`, ".items[0]"},
		{`items: [{name: a}]`, `items: [{value: {k8s_io__value: unset}}, {name: b, value: {k8s_io__value: unset}}]`, ".items[0]"},
		{`set: [x]`, `set: [null]`, ".set[0]"},
		{`text: x`, `ports: [null]`, ".ports[0]"},
		{`ports: [{port: 1}]`, `ports: [null]`, ".ports[0]"},
	} {
		s := newScript(t)
		s.apply("other", test.live)
		s.invalid("m1", test.config, []string{test.path}, "expected")
	}
}

// TestPruneFieldNamedEllipsis: the field name "…" has no special meaning.
func TestPruneFieldNamedEllipsis(t *testing.T) {
	s := newScript(t)
	s.apply("ops", `free: {b: 1}`)
	for range 3 {
		s.apply("ci", `free: {"…": 1, a: 1}`)
	}
	s.apply("ci", `free: {a: 1}`)
	s.want(`free: {a: 1, b: 1}`)
}

// TestUnsetInItemWithDefaultedKeysOnly: if a list item contains nothing but unset markers, and all its keys are
// defaulted, the applier owns the unset fields but not the item.
func TestUnsetInItemWithDefaultedKeysOnly(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `ports: [{port: 1, alias: a}]`)
	s.apply("m2", `ports: [{alias: {k8s_io__value: unset}}]`)
	s.wantOwners(`m1 .ports[port=1,protocol="TCP"]{,.alias,.port}`, `m2 .ports[protocol="TCP"].alias`)
}
