package apply

import (
	"fmt"
	"testing"
	"time"
)

// Update records every other kind of write: POST, PUT, any patch but apply.

// TestUpdate: the manager becomes owner of what it changed, others lose what was
// changed or removed.
func TestUpdate(t *testing.T) {
	for _, c := range []struct {
		name, applied, updated string
		owners                 []string
	}{
		{"create", ``, `{number: 1, struct: {a: 1}}`, []string{"u/Update .number .struct .struct.a"}},
		{"nothing", `number: 1`, `number: 1`, []string{"m .number"}},
		{"another spelling", `number: 1`, `number: 1.0`, []string{"m .number"}},
		{"add", `number: 1`, `{number: 1, text: x}`, []string{"m .number", "u/Update .text"}},
		{"change", `{number: 1, text: x}`, `{number: 2, text: x}`, []string{"m .text", "u/Update .number"}},
		{"remove", `{number: 1, text: x}`, `text: x`, []string{"m .text"}},
		{"remove all", `number: 1`, ``, nil},
		{"to null", `number: 1`, `number: null`, []string{"u/Update .number"}},
		{"remove a container", `{struct: {a: 1, inner: {b: 1}}, text: x}`, `text: x`, []string{"m .text"}},
		{"change an atomic list", `list: [a]`, `list: [a, b]`, []string{"u/Update .list"}},
		{"add to a set", `set: [a]`, `set: [a, b]`, []string{`m .set[="a"]`, `u/Update .set[="b"]`}},
		{"remove from a set", `set: [a, b]`, `set: [b]`, []string{`m .set[="b"]`}},
		{"reorder a set", `set: [a, b]`, `set: [b, a]`, []string{`m .set[="a"] .set[="b"]`}},
		{"change an item", `items: [{name: a, value: 1}]`, `items: [{name: a, value: 2}]`,
			[]string{`m .items[name="a"]{,.name}`, `u/Update .items[name="a"].value`}},
		{"replace an item", `items: [{name: a, value: 1}]`, `items: [{name: b, value: 1}]`,
			[]string{`u/Update .items[name="b"]{,.name,.value}`}},
		{"another shape", `free: {a: 1}`, `free: [1]`, []string{"u/Update .free"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			if c.applied != "" {
				s.apply("m", c.applied)
			}
			s.update("u", c.updated)
			s.want(c.updated)
			s.wantOwners(c.owners...)
		})
	}
}

// TestUpdateExtendsEntry: an updater's entry grows; the time is that of the last change.
func TestUpdateExtendsEntry(t *testing.T) {
	s := newScript(t)
	s.update("u", `number: 1`)
	created := s.entry("u/Update").Time
	s.update("u", `{number: 1, text: x}`)
	s.wantOwners("u/Update .number .text")
	if e := s.entry("u/Update"); !e.Time.After(created) {
		t.Errorf("the entry is of %v, not of the second change", e.Time)
	}
	changed := s.entry("u/Update").Time
	result := s.update("u", `{number: 1, text: x}`)
	if !result.NoOp || !s.entry("u/Update").Time.Equal(changed) {
		t.Errorf("an update that changes nothing is no no-op: %v", dump(s.live))
	}
	s.update("u", `number: 1`)
	s.wantOwners("u/Update .number")
	if !s.entry("u/Update").Time.Equal(changed) {
		t.Error("removing a field gives the remover nothing, so that it gets no new time")
	}
}

// TestUpdateWithoutManager: writers without a name are "unknown".
func TestUpdateWithoutManager(t *testing.T) {
	s := newScript(t)
	s.oracle = nil // it takes the name as it is
	s.update("", `number: 1`)
	s.wantOwners("unknown/Update .number")
}

// TestUpdateKeepsDocumentVerbatim: an update's document is taken to the letter, also where
// it does not fit the topology: what is live can't be refused.
func TestUpdateKeepsDocumentVerbatim(t *testing.T) {
	s := newScript(t)
	s.oracle = nil // it refuses the document
	s.update("u", `{number: x, undeclared: {a: 1}, set: [a, a], items: [{value: 1}], struct: {}, map: null, list: []}`)
	s.want(`{number: x, undeclared: {a: 1}, set: [a, a], items: [{value: 1}], struct: {}, map: null, list: []}`)
	s.apply("m", `flag: true`)
	s.want(`{number: x, undeclared: {a: 1}, set: [a, a], items: [{value: 1}], struct: {}, map: null, list: [], flag: true}`)
}

// TestBeforeFirstApply: what was there before anything was tracked has an owner from
// the first apply on.
func TestBeforeFirstApply(t *testing.T) {
	const live = `{metadata: {name: x, uid: "1", labels: {a: b}}, number: 1, struct: {a: 1}, items: [{name: a, value: 1}]}`
	t.Run("unrelated", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(live)
		s.apply("m", `text: x`)
		s.wantOwners("m .text", `before-first-apply/Update .metadata.labels .metadata.labels.a .number .struct .struct.a .items .items[name="a"]{,.name,.value}`)
		if got := s.entry("before-first-apply/Update").Time; !got.Equal(s.now) {
			t.Errorf("the entry is of %v, want %v", got, s.now)
		}
	})
	t.Run("conflict", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(live)
		s.conflict("m", `number: 2`, ".number before-first-apply/Update")
	})
	t.Run("force", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(`{metadata: {name: x, uid: "1"}, number: 1}`)
		s.force("m", `number: 2`)
		s.wantOwners("m .number")
	})
	t.Run("same value", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(`number: 1`)
		s.apply("m", `number: 1`)
		s.wantOwners("m .number", "before-first-apply/Update .number")
	})
	t.Run("what is always there", func(t *testing.T) {
		live := Object{Document: parse(`{apiVersion: v1, number: 1, text: x, struct: {a: 1}, atomicStruct: {}}`)}
		result, err := mustEngine(Options{}).Apply(live, parse(`flag: true`), Request{
			Manager: "m", Version: "v1", Empty: parse(`{text: "", struct: {}, atomicStruct: {}}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		const want = `{"f:number":{},"f:struct":{"f:a":{}},"f:text":{}}`
		if got := result.Object.Entries[1]; got.Manager != BeforeFirstApply || got.FieldsV1 != want {
			t.Errorf("%s owns %s, want %s", got.Manager, got.FieldsV1, want)
		}
	})
	t.Run("updates do not start tracking", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(live)
		s.update("u", `{metadata: {uid: "1"}, number: 5}`)
		s.wantOwners()
		s.want(`{metadata: {uid: "1"}, number: 5}`)
	})
	t.Run("updates of an object without uid do", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(`number: 1`)
		s.update("u", `{number: 1, text: x}`)
		s.wantOwners("u/Update .text")
	})
}

// TestUpdateEntriesAreCapped: an object keeps ten entries of updaters; the oldest are
// joined under one name.
func TestUpdateEntriesAreCapped(t *testing.T) {
	s := newScript(t)
	s.oracle = nil // it has no cap
	fields := ""
	for i := range 12 {
		fields += fmt.Sprintf("k%02d: 1, ", i)
		s.update(fmt.Sprintf("u%02d", i), "map: {"+fields+"}")
		if i == 9 && len(s.live.Entries) != 10 {
			t.Errorf("%d entries, want 10", len(s.live.Entries))
		}
	}
	s.apply("m", `text: x`) // appliers do not count
	if len(s.live.Entries) != 11 {
		t.Errorf("%d entries, want 10 of updaters and one of an applier", len(s.live.Entries))
	}
	ancient, _ := s.entry("ancient-changes/Update").Fields()
	if want := pathSet(".map .map.k00 .map.k01 .map.k02"); !ancient.Equal(want) {
		t.Errorf("the oldest own\n%vwant\n%v", ancient, want)
	}
	third := s.now.Add(-10 * time.Minute)
	if got := s.entry("ancient-changes/Update").Time; !got.Equal(third) {
		t.Errorf("the oldest are of %v, want the time of the last that was joined, %v", got, third)
	}
	t.Run("another cap", func(t *testing.T) {
		s := newScript(t, Options{MaxUpdateEntries: 2})
		s.oracle = nil
		s.update("a", `map: {a: 1}`)
		s.update("b", `map: {a: 1, b: 1}`)
		s.update("c", `map: {a: 1, b: 1, c: 1}`)
		s.wantOwners("ancient-changes/Update .map .map.a .map.b", "c/Update .map.c")
	})
}

// TestUpdateCapKeepsOwnership: when the joined entry is not the oldest any more,
// because others are of the same second, nothing that it owns is lost. Kubernetes
// drops the whole entry then.
func TestUpdateCapKeepsOwnership(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newScript(t, Options{MaxUpdateEntries: 2})
	s.oracle = nil
	s.live = Object{Document: parse(`map: {a: 1, b: 1, c: 1}`), Entries: []Entry{
		{Manager: "aaa", Operation: Update, APIVersion: "v1", Time: at, FieldsV1: `{"f:map":{"f:a":{}}}`},
		{Manager: "ancient-changes", Operation: Update, APIVersion: "v1", Time: at, FieldsV1: `{"f:map":{"f:b":{}}}`},
		{Manager: "zzz", Operation: Update, APIVersion: "v1", Time: at, FieldsV1: `{"f:map":{"f:c":{}}}`},
	}}
	s.update("new", `map: {a: 1, b: 1, c: 1, d: 1}`)
	all := pathSet("")
	for _, e := range s.live.Entries {
		fields, _ := e.Fields()
		all = all.Union(fields)
	}
	if want := pathSet(".map.a .map.b .map.c .map.d"); !all.Equal(want) {
		t.Errorf("together they own\n%vwant\n%v\n%s", all, want, dump(s.live))
	}
	if len(s.live.Entries) > 2 {
		t.Errorf("%d entries, want 2:\n%s", len(s.live.Entries), dump(s.live))
	}
}

// TestEntryTimes: an entry has the time of its manager's last change. Who changes nothing
// gets no time, and keeps the one it had.
func TestEntryTimes(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `number: 1`)
	first := s.now
	s.apply("m2", `number: 1`) // shares, but changes nothing
	if e := s.entry("m2"); !e.Time.IsZero() {
		t.Errorf("m2 changed nothing, but has the time %v", e.Time)
	}
	s.apply("m2", `{number: 1, text: x}`)
	if e := s.entry("m2"); !e.Time.Equal(s.now) {
		t.Errorf("m2 is of %v, want %v", e.Time, s.now)
	}
	if e := s.entry("m1"); !e.Time.Equal(first) {
		t.Errorf("m1 is of %v, want %v", e.Time, first)
	}
	second := s.now
	s.apply("m2", `text: x`) // gives a share up; the object stays as it is
	if e := s.entry("m2"); !e.Time.Equal(second) {
		t.Errorf("m2 is of %v, want %v", e.Time, second)
	}
	s.force("m3", `text: z`)
	if e := s.entry("m1"); !e.Time.Equal(first) {
		t.Errorf("losing fields changed the time of m1 to %v", e.Time)
	}
	t.Run("to the second", func(t *testing.T) {
		s := newScript(t)
		s.now = time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.FixedZone("", 3600))
		s.apply("m1", `number: 1`)
		s.update("m2", `{number: 1, text: x}`)
		for _, e := range s.live.Entries {
			if e.Time.Nanosecond() != 0 || e.Time.Location() != time.UTC {
				t.Errorf("%s is of %v, want UTC to the second", e.Manager, e.Time)
			}
		}
	})
}
